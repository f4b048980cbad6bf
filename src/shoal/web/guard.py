"""Who may speak to the workbench: only the browser that was given the token, from this machine."""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Everything comes from the workbench itself: a page that wanted to load or send something elsewhere could not.
# Vue compiles templates in the browser, hence 'unsafe-eval'.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Stands before the whole application: pages, files, the API and the web socket.

    A request needs the token, as ``?token=…`` (which is exchanged for a cookie, so that it leaves the address), as that
    cookie, or as ``Authorization: Bearer …``. Its ``Host`` must be this server's, or a foreign name could be pointed at
    this machine (DNS rebinding); what changes something, and every web socket, must come from a page of this server.
    """

    def __init__(self, application: Application, *, token: str, port: int, largest: int) -> None:
        self._application = application
        self._token = token
        self._cookie = f"shoal-{port}"
        self._largest = largest
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why not."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send, headers)
        else:
            await self._request(scope, receive, send, headers)

    async def _socket(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        # Browsers always say where a web socket comes from; whoever does not is no page of ours.
        ours = headers.get("host") in self._hosts and headers.get("origin") == f"http://{headers.get('host')}"
        if ours and self._has_token(headers):
            await self._application(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": 4403})

    async def _request(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        if headers.get("host") not in self._hosts:
            await _refuse(send, 400, "this is not an address of the workbench")
            return
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers['host']}" and scope["method"] not in _SAFE:
            await _refuse(send, 403, "this request comes from another page")
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if given and self._is_token(given[-1]):
            if scope["method"] in _SAFE and not scope["path"].startswith("/api/"):
                rest = [(name, value) for name, value in query if name != "token"]
                await self._exchange(send, scope["path"], rest)
                return
        elif not self._has_token(headers):
            await _refuse(send, 401, "open the address that 'shoal serve' printed: it carries the token")
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._largest:
            await _refuse(send, 413, f"this is larger than the limit of {self._largest // 2**20:,} MB")
            return
        await self._application(scope, self._counted(receive), _hardened(send))

    def _has_token(self, headers: dict[str, str]) -> bool:
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(value.strip()):
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self._cookie in cookies and self._is_token(cookies[self._cookie].value)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    async def _exchange(self, send: Send, path: str, query: list[tuple[str, str]]) -> None:
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        # Leading slashes would name another host.
        place = "/" + path.lstrip("/\\") + (f"?{urlencode(query)}" if query else "")
        headers = [
            (b"location", place.encode("ascii", "ignore")),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
            *_HEADERS,
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _counted(self, receive: Receive) -> Receive:
        """A body without a declared length is counted as it comes."""
        seen = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._largest:
                return {"type": "http.disconnect"}
            return message

        return counted


def _hardened(send: Send) -> Send:
    async def hardened(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await send(message)

    return hardened


async def _refuse(send: Send, status: int, why: str) -> None:
    body = f"Shoal: {why}.\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
