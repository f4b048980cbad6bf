"""How one gets in: a browser by a code that works once, a program by the token in a file that only its owner can read."""

import os
import secrets
import threading
import time
from collections.abc import Callable
from hmac import compare_digest
from pathlib import Path

from shoal.report.markup import leading_to

#: A code that nobody used within this many seconds is worth nothing.
SECONDS = 600
#: The file of a workspace that holds the token, as the header a program sends.
HEADER = "authorization"
_DOOR = "open.html"
_MOST_SESSIONS = 1000


class Entry:
    """The token of the API, the codes that wait to be used, and the browsers that have used one.

    >>> entry = Entry()
    >>> code = entry.code()
    >>> session = entry.redeem(code)
    >>> entry.knows(session), entry.redeem(code) is None
    (True, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.token = secrets.token_urlsafe(24)
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._sessions: list[str] = []
        self._lock = threading.Lock()

    def code(self) -> str:
        """A fresh code; it opens the workbench once, and soon."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = self._clock() + SECONDS
        return code

    def redeem(self, presented: str) -> str | None:
        """What a browser is known by from now on, or nothing if the code was used, is too old or was never given."""
        with self._lock:
            now = self._clock()
            self._codes = {code: until for code, until in self._codes.items() if until >= now}
            for code in list(self._codes):
                if _same(code, presented):
                    del self._codes[code]
                    session = secrets.token_urlsafe(24)
                    self._sessions = [*self._sessions, session][-_MOST_SESSIONS:]
                    return session
        return None

    def knows(self, session: str) -> bool:
        """Whether a browser has used a code."""
        with self._lock:
            return any(_same(known, session) for known in self._sessions)

    def is_token(self, presented: str) -> bool:
        """Whether this is the token of the API."""
        return _same(self.token, presented)


def _same(known: str, presented: str) -> bool:
    return compare_digest(known.encode(), presented.encode())


def write_header(folder: Path, token: str) -> Path:
    """Keep the token where programs of this user find it, as the header they send: ``curl --header @FILE``."""
    return _private(folder / HEADER, f"Authorization: Bearer {token}\n")


def write_door(folder: Path, address: str) -> Path:
    """A page that leads to an address, for the browser to open: its command line, which everybody can read, has a file's name."""
    return _private(folder / _DOOR, leading_to(address, "The workbench opens …"))


def forget(folder: Path) -> None:
    """Take away what opened a workbench that is closed."""
    for name in (HEADER, _DOOR):
        (folder / name).unlink(missing_ok=True)


def _private(path: Path, content: str) -> Path:
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(content)
    return path
