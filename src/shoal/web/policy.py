"""What a page of the workbench may do: run its own scripts and speak to its own server, nothing else."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

_POLICY = (
    # Only scripts that carry the word of this one answer run, so neither a tag nor an attribute that slipped into a page
    # does. NiceGUI builds handlers from text, hence 'unsafe-eval': that text never holds a value (pages/attributes.py).
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; script-src-attr 'none'; "
    # Quasar and the charts set styles as they go; a style can fetch nothing from elsewhere.
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
#: An answer without a page of ours may do nothing at all.
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def headers(policy: str = NOTHING) -> list[tuple[bytes, bytes]]:
    """The headers of every answer."""
    return [(b"content-security-policy", policy.encode()), *_HEADERS]


def hardened(send: Send) -> Send:
    """Add the headers to an answer; the scripts of a page are marked as the server's own with a word made for it."""
    held: Message | None = None
    body = bytearray()

    async def harden(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            known = {key.lower(): value for key, value in message.get("headers", ())}
            if b"content-security-policy" in known:
                message["headers"] = [*message["headers"], *_HEADERS]
            elif known.get(b"content-type", b"").startswith(b"text/html"):
                held = message
                return
            else:
                message["headers"] = [*message.get("headers", ()), *headers(_POLICY.format(nonce="none"))]
            await send(message)
        elif held is None or message["type"] != "http.response.body":
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _page(held, bytes(body), send)

    return harden


async def _page(start: Message, body: bytes, send: Send) -> None:
    nonce = secrets.token_urlsafe(18)
    # What a page is told about (its elements, its title) is escaped by NiceGUI: only tags of its template look like this.
    marked = body.replace(b"<script", b'<script nonce="%s"' % nonce.encode())
    kept = [item for item in start["headers"] if item[0].lower() != b"content-length"]
    length = (b"content-length", str(len(marked)).encode())
    await send({**start, "headers": [*kept, length, *headers(_POLICY.format(nonce=nonce))]})
    await send({"type": "http.response.body", "body": marked})
