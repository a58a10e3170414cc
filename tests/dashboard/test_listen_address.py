"""Where the dashboard listens: in reach of others only behind a proxy, and then only as that needs it."""

import http.client
import socket
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.operations.dashboard_server import streamlit_options
from arena.operations.listen_addresses import (
    OPEN_DASHBOARD,
    ListenAddress,
    PublicAddress,
    is_listening,
    listen_address,
    parse_public_address,
)
from arena.operations.page_programs import NOWHERE, page_environment
from tests.dashboard.serving import a_free_port, knock, serving
from tests.program.running import arena

PUBLIC = "https://arena.example.com/season"


def ask(port: int, host: str, path: str) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of the answer to a request under this host name."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


REACHED = ("0.0.0.0", "::", "0", "192.0.2.7", "[::ffff:192.0.2.7]")
NO_HOST = ("", "*", "no such host", "unix:///tmp/x", "a..b")
NO_PAGE = (
    "arena.example.com",
    "ftp://a.b",
    "https://",
    "https://a.b:x",
    "https://a.b?c",
    "https://u:p@a.b",
    "",
)
REFUSED: list[tuple[str, bool, str | None, str]] = [
    *((host, False, None, "other machines can reach") for host in REACHED),
    *((host, True, None, "is unknown here") for host in NO_HOST),
    ("192.0.2.7", True, None, r"192\.0\.2\.7 is no address of this machine"),
    ("127.0.0.1", False, PUBLIC, "--public is the address of a proxy"),
    *(("127.0.0.1", True, text, "is not a web address") for text in NO_PAGE),
]
"""A host, whether it is behind a proxy, the proxy's address, and why not."""


@pytest.mark.parametrize(("host", "behind_proxy", "public", "why"), REFUSED)
def test_what_cannot_be_listened_at_is_refused(
    host: str, behind_proxy: bool, public: str | None, why: str
) -> None:
    with pytest.raises(ArenaError, match=why) as refused:
        listen_address(host, a_free_port(), behind_proxy, public, OPEN_DASHBOARD)
    if "other machines" in why:
        assert refused.value.status == 2
        assert "--behind-proxy" in refused.value.hint


def test_the_command_refuses_and_says_how_it_can_be_done(tmp_path: Path) -> None:
    refused = arena(tmp_path, "dashboard", "--database", "nothing.db", "--host", "0.0.0.0")
    assert refused.returncode == 2
    for said in ("0.0.0.0", "--behind-proxy", "arena dashboard --help"):
        assert said in refused.stderr
    assert "no record at nothing.db" in arena(tmp_path, "dashboard", "--database", "nothing.db").stderr


def test_a_machine_knows_itself_by_several_names() -> None:
    known = ("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.0.0.2")
    found = [listen_address(host, a_free_port(), False, None, OPEN_DASHBOARD).address for host in known]
    assert found == ["127.0.0.1"] * 4 + ["127.0.0.2"]


def test_behind_a_proxy_no_other_port_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ArenaError, match=f"port {port} is not free"):
            listen_address("127.0.0.1", port, True, None, OPEN_DASHBOARD)


def test_an_address_says_its_port_where_it_is_not_the_usual_one() -> None:
    assert parse_public_address("https://a.b").origin == "https://a.b"
    assert parse_public_address("http://[::1]:8080/x").origin == "http://[::1]:8080"


def test_streamlit_is_told_for_whom_it_answers() -> None:
    behind = streamlit_options(
        ListenAddress("0.0.0.0", 8501, True, PublicAddress("https", "arena.example.com", 443, "season"))
    )
    assert "--server.address=0.0.0.0" in behind
    assert "--server.allowedHosts=arena.example.com" in behind
    assert "--server.corsAllowedOrigins=https://arena.example.com" in behind
    assert "--server.baseUrlPath=season" in behind
    assert not any("enableCORS" in flag or "enableXsrfProtection" in flag for flag in behind)
    assert "--server.allowedHosts=127.0.0.1" in streamlit_options(ListenAddress())
    assert not any("allowedHosts" in flag for flag in streamlit_options(ListenAddress("0.0.0.0", 8501, True)))


def test_the_server_is_kept_from_asking_the_web(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("HTTPS_PROXY", "http://192.0.2.1:3128")
    found = {key: value for key, value in page_environment("a.db").items() if key.lower().endswith("_proxy")}
    assert found == dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), NOWHERE)


def test_behind_a_proxy_it_answers_at_the_address_and_path_of_the_proxy_alone(season: Path) -> None:
    with serving(season, "--host", "0.0.0.0", "--behind-proxy", "--public", PUBLIC) as dashboard:
        assert dashboard.address == f"http://0.0.0.0:{dashboard.port}/season"
        own = f"127.0.0.1:{dashboard.port}"
        asked = [
            ("arena.example.com", "https://arena.example.com"),
            (own, "https://arena.example.com"),
            (own, f"http://{own}"),
            ("arena.example.com", "https://evil.example"),
            ("evil.example", "https://evil.example"),
        ]
        told = [knock(dashboard.port, host, origin, "/season") for host, origin in asked]
        assert told == [101, 101, 101, 403, 403]
        hosts = ("arena.example.com", own, "evil.example", "arena.example.com.evil.example", "")
        pages = {host: ask(dashboard.port, host, "/season/") for host in hosts}
        assert [status for status, _ in pages.values()] == [200, 200, 421, 421, 421]
        pages["missing"] = ask(dashboard.port, own, "/season/_stcore/upload_file")
        for _, headers in pages.values():
            assert headers["x-frame-options"] == "DENY"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy.partition("script-src")[2].partition(";")[0]
        assert is_listening(ListenAddress("0.0.0.0", dashboard.port))


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6 here")
def test_it_listens_at_this_machine_by_ipv6_too(season: Path) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("there is no ::1 here")
    with serving(season, "--host", "::1") as dashboard:
        assert dashboard.address.startswith("http://[::1]:")
        assert is_listening(ListenAddress("::1", dashboard.port))
        assert not is_listening(ListenAddress("127.0.0.1", dashboard.port))
