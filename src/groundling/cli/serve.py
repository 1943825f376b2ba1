"""groundling serve"""

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Device

DEMO = Path("runs/demo")  # where `groundling demo` leaves its run


def serve(
    index: Annotated[
        Path | None,
        typer.Argument(
            envvar="GROUNDLING_INDEX",
            help="An index of pictures; when left out, the emoji of `groundling demo` in runs/demo.",
        ),
    ] = None,
    captions: Annotated[
        Path | None,
        typer.Option(
            envvar="GROUNDLING_CAPTIONS", help="An index of captions of the same model, to describe pictures with."
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            envvar="GROUNDLING_CHECK",
            help="A run that judges whether a sentence is true of a picture, or its export, for /check.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(envvar="GROUNDLING_HOST", help="Where to listen; anything but this machine needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, envvar="GROUNDLING_PORT", help="0 for any that is free.")
    ] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with the token that requests must know; else it is in $GROUNDLING_TOKEN, if anywhere."
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let everyone ask who can reach --host, without a token.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar="GROUNDLING_ALLOW_HOST",
            help="A name that the server goes by, as behind a reverse proxy; may be given several times.",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            envvar="GROUNDLING_PROXY",
            help="An address or network of a reverse proxy, which is believed who asks and whether by https; when left "
            "out, one on this machine; may be given several times.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(envvar="GROUNDLING_NAME", help="What the page calls the collection; the name of the folder."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(envvar="GROUNDLING_MODEL", help="Where the model of the index is now, or its export."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            help="milvus:URI or pgvector:URI of an index that is in such a server: only one that you name, here or in "
            "$MILVUS_URI or $PGVECTOR_URI, is connected to."
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=64, envvar="GROUNDLING_WORKERS", help="Processes that answer, each with a model of its own."
        ),
    ] = 1,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Search an index over HTTP, and in a page: words in any language, similar pictures, captions, and checks.

    Listens on this machine only unless told otherwise. SIGTERM or control-C stops it, after what it has begun.
    """
    from groundling.errors import UserError

    try:
        from groundling.serve import server
        from groundling.serve import workers as processes
        from groundling.serve.access import Access, allowed_names, believed_proxies, is_loopback
        from groundling.serve.app import make_app
        from groundling.serve.service import Service
    except ImportError as error:
        raise UserError(f"serving needs {error.name}: pip install 'groundling[serve]'") from None
    from groundling.checking.checker import Checker
    from groundling.search import Index
    from groundling.search import manifest as manifests

    token = None if no_token else _token(token_file)
    if token is None and not no_token and not is_loopback(host):
        raise UserError(
            f"--host {host}: others could reach this; give a token with --token-file, or say --no-token to let them"
        )
    for named in (index, captions):
        if workers > 1 and named is not None and manifests.read(named).store.for_one_process:
            raise UserError(
                f"--workers {workers}: {named} is in a Milvus Lite file, which one process at a time can open; use one "
                "worker, or a Milvus server"
            )
    access = Access(token, allowed_names(host, allow_host or [], token))
    proxies = believed_proxies(proxy or [])
    with server.listen(host, port) as taken:
        worker = processes.start(workers)
        if index is None:
            from groundling.serve.demo import demo_indexes

            if captions is not None:
                raise UserError("--captions goes with an index of pictures of your own; name it, too")
            index, captions = demo_indexes(DEMO, device)
            name = name or "Emoji"
        opened = Index.open(index, model, device, store)
        if opened.manifest.kind != "pictures":
            raise UserError(f"{index}: an index of captions; name one of pictures, and give this with --captions")
        told = None if captions is None else Index.open(captions, model, device, store)
        service = Service(opened, told, None if check is None else Checker.load(check, device))
        service.warm_up()
        if name is None:
            name = opened.root.name if opened.root is not None else index.name
        address = server.address_of(taken)

        def ready() -> None:
            worker.ready()
            if not worker.speaks:
                return
            _tell(address, len(opened), access.token is not None, as_json)
            if show:
                import webbrowser

                webbrowser.open(address)

        app = make_app(service, access, name, tell_root=is_loopback(host))
        server.run(app, taken, ready, service.limits, proxies)
        service.close()


def _token(file: Path | None) -> str | None:
    import os

    from groundling.errors import UserError

    if file is None:
        return os.environ.get("GROUNDLING_TOKEN") or None
    try:
        found = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read ({getattr(error, 'strerror', None) or 'not text'})") from None
    if not found:
        raise UserError(f"{file}: is empty, where a token should be")
    return found


def _tell(address: str, pictures: int, private: bool, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps({"url": address, "pictures": pictures, "token": private}), flush=True)
    else:
        asked = ", with a token" if private else ""
        print(f"{pictures:,} pictures can be searched at {address}{asked} (control-C stops)", flush=True)
