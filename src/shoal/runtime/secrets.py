"""Randomness that protects: it comes from a secret, not from a seed that somebody could guess or publish."""

import os
import secrets
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from shoal.errors import InputError, unreadable
from shoal.sources.internal import marked_text

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

_BYTES = 16
_HEADING = "shoal secret "


@dataclass(frozen=True)
class Draws:
    """Random numbers for one purpose, each a function of whom it is for and of a counter.

    ``key`` is what the functions of ``shoal.runtime.secret_kernels`` take.
    """

    key: "np.ndarray" = field(repr=False)

    def uniforms(self, who: "np.ndarray", count: int = 0) -> "np.ndarray":
        """A number in [0, 1) for each identity."""
        from shoal.runtime import secret_kernels

        found: np.ndarray = secret_kernels.uniforms(self.key, who, count)
        return found

    def normals(self, who: "np.ndarray", count: int = 0) -> "np.ndarray":
        """A standard normal number for each identity."""
        from shoal.runtime import secret_kernels

        found: np.ndarray = secret_kernels.normals(self.key, who, count)
        return found


@dataclass(frozen=True)
class Secret:
    """128 bits that nobody outside may know. Whoever has them can repeat a release, or undo a part of it.

    ``of_study`` tells that they were made from a seed, which can be guessed: such a release is not for publication.

    >>> Secret.new() == Secret.new()
    False
    >>> Secret.of_seed(7).draws("noise", 2).key[0] == Secret.of_seed(7).draws("noise", 2).key[0]
    np.True_
    >>> Secret.of_seed(7)
    Secret(of_study=True)
    """

    content: bytes = field(repr=False)
    of_study: bool = False

    @classmethod
    def new(cls) -> "Secret":
        """A secret of the operating system."""
        return cls(secrets.token_bytes(_BYTES))

    @classmethod
    def of_seed(cls, seed: int) -> "Secret":
        """What a study repeats; anybody can try a few billion seeds."""
        from shoal.numbers import whole

        whole(seed, "the seed", most=2**1024)
        digest = blake2b(str(seed).encode(), digest_size=_BYTES, person=b"shoal study").digest()
        return cls(digest, of_study=True)

    @classmethod
    def read(cls, path: "Path") -> "Secret":
        """The secret that a file holds; messages never say what is in it."""
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable("secret", path, error) from None
        line = lines[0] if lines else ""
        try:
            content = bytes.fromhex(line.removeprefix(_HEADING)) if line.startswith(_HEADING) else b""
        except ValueError:
            content = b""
        if len(content) != _BYTES:
            raise InputError(f"'{path.name}' is no secret that Shoal wrote")
        return cls(content)

    @classmethod
    def of_file(cls, path: "Path") -> "Secret":
        """The secret of a file that nobody but its owner can read; another one may be no secret any more."""
        if os.name == "posix" and path.exists() and path.stat().st_mode & 0o077:
            raise InputError(
                f"others can read the secret '{path.name}', so it protects nobody; if they did not, chmod 600 keeps it, else "
                "draw a new one"
            )
        return cls.read(path)

    @classmethod
    def of(cls, source: "Secret | Path | str | None") -> "Secret":
        """The secret itself, that of a file, or a new one where none is given."""
        from pathlib import Path

        if source is None:
            return cls.new()
        return source if isinstance(source, Secret) else cls.of_file(Path(source))

    def text(self) -> str:
        """As a file holds it."""
        return marked_text(_HEADING + self.content.hex())

    def within(self, *purpose: str | int) -> "Secret":
        """A secret of its own for one use: what is drawn from two of them has nothing in common.

        >>> Secret.of_seed(7).within("noise", 10) == Secret.of_seed(7).within("noise", 20)
        False
        """
        named = repr(tuple(purpose)).encode()
        digest = blake2b(named, digest_size=_BYTES, key=self.content, person=b"shoal within").digest()
        return Secret(digest, self.of_study)

    def draws(self, *purpose: str | int) -> Draws:
        """The random numbers for one purpose: a place of names and numbers."""
        import numpy as np

        named = repr(tuple(purpose)).encode()
        digest = blake2b(named, digest_size=_BYTES, key=self.content, person=b"shoal draws").digest()
        return Draws(np.frombuffer(digest, dtype="<u8").astype(np.uint64))
