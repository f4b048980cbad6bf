"""Compiles every kernel once, so that the first real run is quick: ``python -m shoal.runtime.warm_up``.

A module with kernels has a function ``warm_up()`` that runs them on a tiny problem; being there is enough to be found.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import shoal
from shoal.runtime.compilation import on_first_compilation


def modules() -> Iterator[str]:
    """The modules that have something to compile."""
    root = Path(shoal.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path != Path(__file__) and "\ndef warm_up(" in path.read_text(encoding="utf-8"):
            yield ".".join(("shoal", *path.relative_to(root).with_suffix("").parts))


def compile_module(name: str) -> bool:
    """Run the ``warm_up`` of one module; whether anything had to be compiled."""
    compiled: list[bool] = []
    on_first_compilation(lambda: compiled.append(True))
    import_module(name).warm_up()
    return bool(compiled)


def main() -> None:
    """Compile all modules, in two processes: compiling holds a lock, so threads would not help."""
    began = perf_counter()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        compiled = sum(pool.map(compile_module, modules()))
    if compiled:
        print(f"compiled the kernels in {perf_counter() - began:.0f} s (first time only)", file=sys.stderr)


if __name__ == "__main__":
    main()
