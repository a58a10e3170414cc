"""`arena dashboard`: the record in a browser."""

from pathlib import Path

from arena.cli.options import DEFAULT, Options, command, flag, option
from arena.operations.listen_addresses import DASHBOARD_PORT, HOST, OPEN_DASHBOARD, listen_address


@command("config", "database")
def dashboard(
    chosen: Options,
    host: str = option("Where to listen: this machine, unless --behind-proxy.", "HOST", default=HOST),
    port: int = option("The port, or the next free one.", default=DASHBOARD_PORT, min=0, max=65_535),
    behind_proxy: bool = flag("Only a proxy with encryption and a password reaches it; --port is exact."),
    public: str | None = option("The proxy's public address.", "URL"),
) -> None:
    """Show the record in a browser until Ctrl-C.

    It listens on this machine only, unless behind a proxy: it has no password. Pages only read the record.
    Outdated scores are computed in the background and saved if the record is writable. With --public it
    answers only at that address and path.

    Example: arena dashboard --database .demo/demo.db

        Dashboard: http://127.0.0.1:8501  (Ctrl-C ends it)

    Example: arena dashboard --behind-proxy --public https://arena.example.com
    """
    from arena.cli.dashboard import serve

    where = listen_address(host, port, behind_proxy, public, OPEN_DASHBOARD)
    address = chosen.record_address()
    if chosen.database and "://" not in address and not Path(address).exists():
        from arena.record.schema.database import NoRecord

        raise NoRecord(address)

    config = chosen.config
    if config is None and not chosen.database:
        config = DEFAULT
    serve(address, where, config)
