"""The general warm-up reaches every kernel that is called from Python: whoever comes first waits for none of them."""

import json
import subprocess
import sys

import pytest
from tests.waiting import GUARD

# Kernels that others call are compiled with them.
NOT_REACHED = """
import json, sys
from importlib import import_module
from pkgutil import walk_packages
from shoal.runtime.kernels import Kernel
from shoal.runtime.warm_up import compile_module, modules

package = import_module(sys.argv[1])
inside = package.__name__ + "."
for name in modules():
    if name.startswith(inside):
        compile_module(name)
found = [vars(import_module(module.name)) for module in walk_packages(package.__path__, inside)]
kernels = {item for names in found for item in names.values() if isinstance(item, Kernel)}
called = {
    kernel.py_func.__globals__.get(name) for kernel in kernels for name in kernel.py_func.__code__.co_names
}
own = [kernel for kernel in kernels - called if kernel.__module__.startswith(inside)]
assert own
print(json.dumps(sorted(kernel.__name__ for kernel in own if not kernel.nopython_signatures)))
"""


@pytest.mark.parametrize("package", ["shoal.tables", "shoal.microdata.risk", "shoal.microdata.grouping"])
def test_no_kernel_is_left_for_the_first_user(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOT_REACHED, package], capture_output=True, text=True, timeout=GUARD
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
