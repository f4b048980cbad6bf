"""How data is known again: inputs by a keyed hash that tells outsiders nothing, outputs by a plain one."""

import hashlib
import hmac
from collections.abc import Collection
from pathlib import Path

import polars as pl

from shoal.runtime.secrets import Secret

_CHUNK = 1 << 20


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def input_fingerprint(location: str, frame: pl.DataFrame | None, secret: Secret) -> str:
    """HMAC of an input under the secret of the release: of a file its bytes, of a table its rows.

    A plain hash could be compared with that of a guess: whoever has most of a file could try the rest.
    """
    key = hmac.new(secret.content, b"shoal input", hashlib.sha256).digest()
    path = Path(location.split("::")[0])
    if "://" not in location and path.is_file():
        return _keyed_digest(path, key)
    digest = hmac.new(key, digestmod=hashlib.sha256)
    if frame is not None:
        digest.update(repr(frame.schema).encode())
        digest.update(frame.write_csv().encode())
    return digest.hexdigest()


def _keyed_digest(path: Path, key: bytes) -> str:
    digest = hmac.new(key, digestmod=hashlib.sha256)
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def settings_digest(text: str, secret: Secret) -> str:
    """A keyed hash of what a step was asked to do, by which a finished one is known again."""
    key = hmac.new(secret.content, b"shoal step", hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def internal_fingerprints(internal: Path, passing: Collection[str], secret: Secret) -> dict[str, str]:
    """HMAC of what the internal part of a release keeps, by place; without files and folders whose names are ``passing``."""
    key = hmac.new(secret.content, b"shoal kept", hashlib.sha256).digest()
    places = {path.relative_to(internal): path for path in sorted(internal.rglob("*")) if path.is_file()}
    return {
        place.as_posix(): _keyed_digest(path, key)
        for place, path in places.items()
        if not set(place.parts) & set(passing)
    }


def report_digests(internal: Path) -> dict[str, str]:
    """SHA-256 of the report of a release and of those of its steps, by their places in the internal part."""
    places = sorted(internal.rglob("report.html"))
    return {place.relative_to(internal).as_posix(): file_digest(place) for place in places}
