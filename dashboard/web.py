"""The pages as a web application: the hosts it answers for, and what a browser may do with its pages."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

APP = Path(__file__).parent / "app.py"
"""The file that Streamlit runs."""
MISDIRECTED = 421


def content_policy() -> str:
    """Allow only what this server has, and the scripts in Streamlit's own page.

    Styles may stand anywhere: Streamlit and its charts make them as they go.
    """
    page = (Path(get_static_dir()) / "index.html").read_text("utf-8")
    scripts = "'self'"
    for script in re.findall("(?s)<script>(.*?)</script>", page):
        script_hash = b64encode(sha256(script.encode()).digest()).decode()
        scripts += f" 'sha256-{script_hash}'"
    rules = {
        "default-src": "'none'",
        "script-src": scripts,
        "style-src": "'self' 'unsafe-inline'",
        "connect-src": "'self'",
        "font-src": "'self' data:",
        "img-src": "'self' data:",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


HEADERS = {
    "Content-Security-Policy": content_policy(),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Guarded:
    """Refuses requests for another host, as Streamlit does for its websocket, and adds headers to answers."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        is_known_host = is_host_allowed(Headers(scope=scope).get("host"))
        refuse = PlainTextResponse("the dashboard is not at this address", MISDIRECTED)
        await (self.app if is_known_host else refuse)(scope, receive, with_headers)


LOOK = Path(__file__).parent / "assets" / "streamlit.css"
STYLE = f"<style>{LOOK.read_text('utf-8')}</style></head>".encode()
"""The look of Streamlit's own parts."""


def single_part_address(path: str) -> str:
    """Return an address of several parts as one of a single part, or nothing if it is one already.

    Below another part Streamlit's page finds none of its files. Quoted once, the slash would be one again.

    >>> single_part_address("/a/b"), single_part_address("/agent/")
    ('/a%252Fb', '')
    """
    base = f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")
    path_below_base = path.removeprefix(base).strip("/")
    if "/" not in path_below_base:
        return ""
    return f"{base}/{quote(quote(path_below_base, safe=''))}"


class Styled:
    """Puts our style into Streamlit's page: sent later, it would move everything already drawn."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return

        request_headers = MutableHeaders(scope=scope)
        del request_headers["accept-encoding"]  # only a plain page can be added to
        for name in ("if-none-match", "if-modified-since"):
            del request_headers[name]  # a browser would take the page of another version for this one
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await self.app(scope, receive, collect)
        start_message, *body_messages = messages
        headers = MutableHeaders(scope=start_message)
        body = b"".join(part.get("body", b"") for part in body_messages)
        if headers.get("content-type", "").startswith("text/html"):
            redirect_path = single_part_address(scope["path"])
            if redirect_path:
                await RedirectResponse(redirect_path)(scope, receive, send)
                return
            body = body.replace(b"</head>", STYLE, 1)
            headers["content-length"] = str(len(body))
        await send(start_message)
        await send({"type": "http.response.body", "body": body})


app = st.App(APP, middleware=[Middleware(Guarded), Middleware(Styled)])
