"""Which secret a changed table is drawn from: one that is given, one made from a seed for studies, or a new one."""

from pathlib import Path
from typing import Any

from shoal.errors import InputError, parameter
from shoal.operation import DataName, Product, Workplace
from shoal.remarks import danger
from shoal.runtime.secrets import Secret

#: Said of a table that anybody could draw again.
OF_SEED = danger(
    "drawn-from-seed", "chance was drawn from a seed, which can be guessed: this table is not for release"
)


def secret_of(secret: "Secret | str | Path | None", seed: int | None) -> Secret:
    """The secret to draw from: one that is given, or the one in a file."""
    if secret is not None and seed is not None:
        raise InputError(f"{parameter('secret')} and {parameter('seed')} do not go together")
    if secret is not None:
        return secret if isinstance(secret, Secret) else Secret.read(Path(secret))
    return Secret.new() if seed is None else Secret.of_seed(seed)


def read_secret(settings: Any, workplace: Workplace) -> Secret | None:
    """The secret in the file that the settings name, if it is there already."""
    kept = None if settings.secret is None else workplace.file(settings.secret)
    return Secret.read(kept) if kept is not None and kept.exists() else None


def reads(settings: Any) -> list[DataName]:
    """The table with what is said of it, and a secret that is there already."""
    kept = [settings.secret] if settings.secret is not None and Path(settings.secret).exists() else []
    return [*settings.read, *kept]


def check_secret(settings: Any, written: frozenset[str]) -> None:
    """Refuse a secret and a seed together, before anything is read."""
    if settings.secret is not None and settings.seed is not None:
        raise InputError(f"{parameter('secret')} and {parameter('seed')} do not go together")


def secret_product() -> Product:
    """The secret, where somebody wants to keep it."""
    return Product(
        "secret",
        "",
        # Records with keys of their own need none.
        lambda result, settings: None if result.changed.secret is None else result.changed.secret.text(),
        form="text",
        internal=True,
        named_by="secret",
        files=(("secret.txt", "The secret that repeats this table, internal"),),
    )
