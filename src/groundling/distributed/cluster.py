"""A Ray of one machine, or one that is there: actors that decode, actors that encode, and what they send back.

Ray starts lost actors again and gives them what they had not finished, so that nothing is lost; what comes back goes to
one process, which writes it once. Ray's workers exchange pickles: whoever reaches its ports can run programs there. The
Ray that is started here asks for a secret that each program draws for itself, and has no dashboard.
"""

import math
import os
import re
import secrets
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from groundling.distributed.sources import Item, portions
from groundling.distributed.workers import Decoder, Encoder, Keys, Read, Seen, Vectors
from groundling.errors import UserError
from groundling.progress import bar

LOCAL = "local"
PORTION = 32  # pictures that are decoded and sent together
STARTS = 3  # times that a Ray of this machine is started until it is said that it does not
TRIES = 3  # more of a portion whose worker was lost
DECODE_SHARE = 0.2  # decoders for each core, where there is no GPU: what decoding takes of the work
PATIENCE = 5.0  # seconds until the machine at an address must have answered
LISTING, DECODING, ENCODING = "look into a shard", "decode pictures", "encode pictures"  # tasks on Ray's dashboard
STORE = 2**30  # bytes that a Ray of this machine may keep pictures in
SECRET = secrets.token_hex(32)  # one for a program: Ray reads it once, and a second Ray would not know another


@dataclass(frozen=True)
class Job:
    """What is done to pictures.

    Attributes:
        read: how they are read.
        work, formats: what decoding makes of them, and which files it takes (see `workers.Decoder`).
        make, arguments: load what encodes (see `workers.Encoder`).
        fingerprint: of the network that was loaded here; a worker that has another is an error.
        known: contents that need no encoding.
    """

    read: Read
    work: bytes
    formats: tuple[str, ...]
    make: Callable[..., Any]
    arguments: Sequence[Any]
    fingerprint: str
    known: Keys


def check_address(address: str) -> None:
    """An error where nobody listens at an address: Ray itself would go on trying for many minutes."""
    found = re.fullmatch(r"(?:ray://)?\[?([^/\[\]]+)\]?:(\d{1,5})", address)
    if found is None:  # "local", "auto", or what Ray says a word about at once
        return
    try:
        socket.create_connection((found[1], int(found[2])), PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"--ray {address}: no Ray answers there ({why})") from None


@contextmanager
def joined(address: str, cores: int | None = None, store: int = STORE) -> Iterator["Cluster"]:
    """The cluster at an address, or one of this machine for "local", which ends with the block; but where this program
    has joined a Ray already, that one."""
    own = address == LOCAL
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": SECRET}
    # Ray's workers would come after all other programs of a machine; here they are the work.
    settings = {"RAY_USAGE_STATS_ENABLED": "0", **({**secret, "RAY_worker_niceness": "0"} if own else {})}
    there: Any = sys.modules.get("ray")
    if there is not None and there.is_initialized():
        yield Cluster(there)
        return
    check_address(address)
    with _environment(settings):
        ray = _started(address, cores if own else None, store if own else None)
        try:
            yield Cluster(ray)
        finally:
            ray.shutdown()


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ |= settings
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _started(address: str, cores: int | None, store: int | None) -> Any:
    try:
        import ray
    except ImportError:
        raise UserError("--ray: Ray is not installed: pip install 'groundling[ray]'") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        count = cores or os.cpu_count() or 1
        _start_here(ray, num_cpus=count, include_dashboard=False, object_store_memory=store, **quiet)
        return ray
    try:
        ray.init(address, **quiet)
    except (ConnectionError, ValueError, RuntimeError, OSError, AssertionError) as error:
        raise UserError(f"--ray {address}: no Ray answers there ({_first_line(error)})") from None
    return ray


def _start_here(ray: Any, **options: Any) -> None:
    """A Ray of this machine. One of its programs may not come up in time where much else is done; a fresh one does."""
    for left in reversed(range(STARTS)):
        try:
            ray.init("local", **options)
            return
        except Exception as error:  # Ray says so with a bare one
            ray.shutdown()
            if not left:
                raise UserError(f"--ray local: Ray does not start on this machine ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


class Cluster:
    def __init__(self, ray: Any) -> None:
        self.ray = ray
        resources = ray.cluster_resources()
        self.cores, self.gpus = max(1, int(resources.get("CPU", 1))), int(resources.get("GPU", 0))

    def run(
        self, items: Iterable[Item], shards: Sequence[str], job: Job, title: str, skip: Callable[[Item], bool]
    ) -> Iterator[tuple[list[Seen], Vectors | None]]:
        """What became of all pictures that are not skipped, a portion at a time in no order, and the vectors of the
        fresh ones: of these items, and of those in these shards."""
        with self._told(), self._actors(job) as (decoders, encoders):
            listed = [*items, *self._members(decoders, shards)]
            todo = [item for item in listed if not skip(item)]
            with bar(title, total=len(listed), done=len(listed) - len(todo)) as progress:
                for seen, vectors in self._encoded(todo, self.ray.put(job.known), decoders, encoders):
                    progress.advance(len(seen))
                    yield seen, vectors

    @contextmanager
    def _actors(self, job: Job) -> Iterator[tuple[list[Any], list[Any]]]:
        """One that encodes on each GPU, and all other cores decode; without GPUs, one that encodes for each core.

        What an actor asks for is less than it takes, so that there is room for all of them on machines of any size.
        """
        encoding = self.gpus or self.cores
        decoding = max(1, self.cores - self.gpus if self.gpus else round(self.cores * DECODE_SHARE))
        survive = {"max_restarts": -1, "max_task_retries": TRIES}
        decoder = self.ray.remote(num_cpus=0.5 if self.gpus else 0.1, **survive)(Decoder)
        encoder = self.ray.remote(num_cpus=0.1 if self.gpus else 0.5, num_gpus=1 if self.gpus else 0, **survive)(
            Encoder
        )
        processes = 1 if self.gpus else -(-self.cores // decoding)
        decoders = [decoder.remote(job.read, job.work, job.formats, processes) for _ in range(decoding)]
        encoders = [encoder.remote(job.make, job.arguments, not self.gpus) for _ in range(encoding)]
        try:
            for found in self.ray.get([one.known_as.remote() for one in encoders]):
                if found != job.fingerprint:
                    raise UserError(
                        "--ray: a worker has another model under this name; give all machines the same files"
                    )
            yield decoders, encoders
        finally:
            for one in (*decoders, *encoders):
                self.ray.kill(one)  # else they are there as long as an error that is looked at

    def _members(self, decoders: list[Any], shards: Sequence[str]) -> Iterator[Item]:
        asked = [
            decoders[number % len(decoders)].members.options(name=LISTING).remote(shard)
            for number, shard in enumerate(shards)
        ]
        with bar("Looking into shards", total=len(shards)) as progress:
            for found in asked:
                yield from self.ray.get(found)
                progress.advance()

    def _encoded(
        self, todo: list[Item], known: Any, decoders: list[Any], encoders: list[Any]
    ) -> Iterator[tuple[list[Seen], Vectors | None]]:
        """At most two batches wait for each encoder and two portions for each decoder; each goes to those with the
        least to do. A batch has as many pictures as the networks ask for, a portion if they do not."""
        waiting: dict[Any, tuple[Any, ...]] = {}
        busy: Counter[Any] = Counter()
        asked: list[int | None] = self.ray.get([one.at_once.remote() for one in encoders])
        size = min(one or PORTION for one in asked)
        most = 2 * len(encoders) + math.ceil(2 * len(decoders) * PORTION / max(size, PORTION))

        def collected() -> tuple[list[Seen], Vectors | None]:
            done, _ = self.ray.wait(list(waiting), num_returns=1)
            busy.subtract(waiting.pop(done[0]))
            result: tuple[list[Seen], Vectors | None] = self.ray.get(done[0])
            return result

        def least_busy(some: list[Any]) -> Any:
            one = min(some, key=lambda one: busy[one])
            busy[one] += 1
            return one

        for batch in portions(todo, size):
            if len(waiting) >= most:
                yield collected()
            encoder, several = least_busy(encoders), list(portions(batch, PORTION))
            hands = [least_busy(decoders) for _ in several]
            prepared = [
                one.prepare.options(name=DECODING).remote(portion, known)
                for one, portion in zip(hands, several, strict=True)
            ]
            waiting[encoder.encode.options(name=ENCODING).remote(*prepared)] = (encoder, *hands)
        while waiting:
            yield collected()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What a user can mend is told here as it was there."""
        problems = self.ray.exceptions
        try:
            yield
        except problems.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise UserError(str(error.cause)) from None
            raise
        except (problems.RayActorError, problems.ObjectLostError) as error:
            cause = getattr(error, "cause", None)
            if isinstance(getattr(cause, "cause", cause), UserError):
                raise UserError(str(getattr(cause, "cause", cause))) from None
            why = (str(error).strip().splitlines() or ["it was lost"])[0]
            raise UserError(
                f"--ray: a worker could not go on ({why}); what is done is kept, give the command once more"
            ) from None
