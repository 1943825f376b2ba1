"""A picture file as a response, read piece by piece: who receives it slowly, or not at all, holds one piece."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from io import BufferedReader

from starlette.responses import StreamingResponse

from groundling.serve.pictures import media_type
from groundling.serve.service import Service

PIECE = 2**16  # bytes


class FileStream(StreamingResponse):
    """Made by `of`."""

    @staticmethod
    async def of(service: Service, row: int, headers: dict[str, str]) -> "FileStream":
        """The file of a row, which is compared with what was indexed before the response begins."""
        held = ExitStack()
        file, size = await service.by_hand(held.enter_context, service.pictures.open_file(row))
        head = await service.by_hand(file.read, PIECE)
        pieces = _pieces(service, held, file, head)
        return FileStream(pieces, headers={**headers, "Content-Length": str(size)}, media_type=media_type(head))


async def _pieces(service: Service, held: ExitStack, file: BufferedReader, head: bytes) -> AsyncIterator[bytes]:
    with held:
        piece = head
        while piece:
            yield piece
            piece = await service.by_hand(file.read, PIECE)
