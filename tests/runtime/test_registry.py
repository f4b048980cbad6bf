"""Methods by name, and their options."""

from typing import Literal

import pytest
from pydantic import Field, model_validator

from shoal.errors import InputError
from shoal.runtime import Method, Registry
from shoal.runtime.options import NoOptions, Options


class FishOptions(Options):
    """Options with every kind of mistake to be made."""

    size: int = Field(default=3, ge=1)
    kind: Literal["Cod", "Hake"] = "Cod"
    smallest: int = 1
    largest: int = 9

    @model_validator(mode="after")
    def _in_order(self):
        if self.smallest > self.largest:
            raise ValueError("N of the smallest must not exceed N of the largest")
        return self


def solve(problem, options, *, note=""):
    return problem, options, note


FISH = Method(
    "fish", "tests.runtime.test_registry:solve", "tests.runtime.test_registry:FishOptions", "a fish"
)
PLAIN = Method("plain", "tests.runtime.test_registry:solve", "shoal.runtime.options:NoOptions", "no options")


def test_a_registry_is_a_mapping_in_its_own_order():
    registry = Registry("fishing", [PLAIN, FISH])
    assert list(registry) == ["plain", "fish"]
    assert len(registry) == 2
    assert registry["fish"] is FISH
    assert "fish" in registry
    assert "trout" not in registry
    with pytest.raises(
        InputError, match=r"method 'trout' is not a method of fishing; there are: plain, fish"
    ):
        registry["trout"]
    with pytest.raises(AssertionError):
        Registry("fishing", [FISH, FISH])


def test_nothing_is_loaded_before_it_is_used():
    method = Method("ghost", "no.such.module:solve", "no.such.module:Options", "not there")
    assert Registry("ghosts", [method])["ghost"].summary == "not there"
    with pytest.raises(ModuleNotFoundError):
        method.solve(1)


@pytest.mark.parametrize("given", [None, {}, {"size": 5}, FishOptions(size=5)])
def test_options_may_be_nothing_a_mapping_or_the_model(given):
    problem, options, note = FISH.solve("sea", given, note="x")
    assert (problem, note) == ("sea", "x")
    assert isinstance(options, FishOptions)
    assert options.size == (5 if given else 3)
    assert isinstance(PLAIN.configure(), NoOptions)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sise": 1}, "option 'sise' is not an option of method 'fish'; did you mean 'size'?"),
        ({"size": 0}, "option 'size' of method 'fish' must be at least 1"),
        ({"kind": "cod"}, "option 'kind' of method 'fish' must be one of 'Cod', 'Hake'"),
        ({"smallest": 10}, "N of the smallest must not exceed N of the largest"),
    ],
)
def test_a_wrong_option_is_named(wrong, message):
    with pytest.raises(InputError) as error:
        FISH.configure(wrong)
    assert str(error.value) == message
