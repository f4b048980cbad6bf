"""Compiles every kernel once, so that the first real run is quick: ``python -m shoal.search.warm_up``."""

import sys
from importlib import import_module
from time import perf_counter

# Each module named here has a function ``warm_up()`` that runs its kernels on a tiny problem.
MODULES: tuple[str, ...] = ()


def main() -> None:
    """Run the ``warm_up`` of every module that has kernels."""
    began = perf_counter()
    for name in MODULES:
        import_module(name).warm_up()
    if perf_counter() - began > 5:
        print(f"compiled the kernels in {perf_counter() - began:.0f} s (first time only)", file=sys.stderr)


if __name__ == "__main__":
    main()
