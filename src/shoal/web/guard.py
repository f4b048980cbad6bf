"""Who may speak to the workbench: only browsers that used a code, and programs with the token, from this machine."""

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from shoal.report.markup import leading_to
from shoal.web.entry import Entry
from shoal.web.policy import hardened
from shoal.web.policy import headers as common_headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Stands before the whole application: pages, files, the API and the web socket.

    A browser comes with a code in the address, which works once and is exchanged for a cookie; a program sends the token
    as ``Authorization: Bearer …``. The token is refused in an address, where logs and other users could read it. The
    ``Host`` must be this server's, or a foreign name could be pointed at this machine (DNS rebinding); what changes
    something, and every web socket, must come from a page of this server.
    """

    def __init__(self, application: Application, *, entry: Entry, port: int, largest: int) -> None:
        self._application = application
        self._entry = entry
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
        if ours and self._may_enter(headers):
            await self._application(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": 4403})

    async def _request(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        refuse = partial(_refuse, send, as_json=_is_api(scope["path"]))
        if headers.get("host") not in self._hosts:
            await refuse(400, "this is not an address of the workbench")
            return
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers['host']}" and scope["method"] not in _SAFE:
            await refuse(403, "this request comes from another page")
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == "token" for name, _ in query):
            await refuse(400, "the token does not belong in an address; send it as a header")
            return
        codes = [value for name, value in query if name == "code"]
        if codes and scope["method"] == "GET":
            rest = [(name, value) for name, value in query if name != "code"]
            await self._exchange(
                send, codes[-1], _target(scope["path"], rest), known=self._may_enter(headers)
            )
            return
        if not self._may_enter(headers):
            await refuse(401, _CLOSED)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._largest:
            await refuse(413, f"this is larger than the limit of {self._largest // 2**20:,} MB")
            return
        await self._application(scope, self._counted(receive), hardened(send))

    def _may_enter(self, headers: dict[str, str]) -> bool:
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._entry.is_token(value.strip()):
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self._cookie in cookies and self._entry.knows(cookies[self._cookie].value)

    async def _exchange(self, send: Send, code: str, target: str, *, known: bool) -> None:
        """A cookie for a code; a page of our own leads on, since a cookie for this site only is not sent from elsewhere."""
        session = self._entry.redeem(code)
        if session is None and not known:
            await _refuse(send, 401, _USED)
            return
        cookie = f"{self._cookie}={session}; Path=/; HttpOnly; SameSite=Strict"
        added = [] if session is None else [(b"set-cookie", cookie.encode())]
        body = leading_to(target, "The workbench opens …").encode()
        await _answer(send, 200, b"text/html; charset=utf-8", body, added)

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


_CLOSED = "open the address that 'shoal serve' printed; a program sends the token as a header"
_USED = (
    "this address was used already or is too old; press Enter where 'shoal serve' runs for a fresh one. "
    "If somebody else used it, end 'shoal serve'"
)


def _target(path: str, query: list[tuple[str, str]]) -> str:
    """Where to go with the code taken out; leading slashes would name another host."""
    # A path has been decoded by now: it is encoded again, so that no sign of it means anything in a page.
    return "/" + quote(path.lstrip("/\\"), safe="/") + (f"?{urlencode(query)}" if query else "")


def _is_api(path: str) -> bool:
    """Whether a program asks, which is answered in JSON; the page that shows the interface is for people."""
    return path.startswith("/api/")


async def _refuse(send: Send, status: int, why: str, *, as_json: bool = False) -> None:
    if as_json:
        body = json.dumps({"error": why, "kind": "forbidden" if status in (401, 403) else "input"})
        # RFC 9110 asks every 401 to say how one may enter.
        added = [(b"www-authenticate", b'Bearer realm="Shoal"')] if status == 401 else []
        await _answer(send, status, b"application/json", body.encode(), added)
        return
    await _answer(send, status, b"text/plain; charset=utf-8", f"Shoal: {why}.\n".encode())


async def _answer(
    send: Send, status: int, kind: bytes, body: bytes, added: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *added,
        *common_headers(),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
