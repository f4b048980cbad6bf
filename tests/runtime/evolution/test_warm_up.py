"""The warm-up reaches every kernel of the kit, and is found."""

import pytest

from shoal.runtime import randomness, warm_up
from shoal.runtime.evolution import keys, replacement, selection
from shoal.runtime.evolution.warm_up import warm_up as warm_up_evolution
from shoal.runtime.kernels import Kernel

KERNELS = {
    f"{module.__name__}.{name}": value
    for module in (keys, selection, replacement, randomness)
    for name, value in vars(module).items()
    if isinstance(value, Kernel)
}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_is_compiled(name):
    warm_up_evolution()
    assert KERNELS[name].nopython_signatures


def test_the_kit_is_found_by_the_general_warm_up():
    name = "shoal.runtime.evolution.warm_up"
    assert name in list(warm_up.modules())
    warm_up_evolution()
    # All is compiled by now, so that nothing is announced.
    assert warm_up.compile_module(name) is False
