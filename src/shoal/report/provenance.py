"""Which software made a result."""

from shoal._version import __version__

_NAMED = ("numpy", "numba", "polars", "scipy", "highspy", "ortools")


def versions() -> str:
    """Shoal, Python and the libraries whose version can change a result.

    >>> versions().startswith("shoal ")
    True
    """
    # A page is rarely wanted, and what reads metadata of packages takes long to load.
    import platform
    from importlib.metadata import PackageNotFoundError, version

    parts = [f"shoal {__version__}", f"Python {platform.python_version()}"]
    for name in _NAMED:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts)
