"""The methods of a domain, by name. Adding one is adding a file and a line here; nothing else changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import unknown
from shoal.import_paths import load
from shoal.runtime.threads import usable_threads

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True)
class Method:
    """One solver as the rest of Shoal sees it, loaded when it is first used.

    ``solver`` and ``options`` are import paths (``"shoal.tables.exact.search:solve"``). ``traits`` are words of the
    domain about what it can do (``"two-dimensional"``, ``"deterministic"``); ``largest`` is the size of problem beyond
    which it is not sensible.
    """

    name: str
    solver: str
    options: str
    summary: str
    objectives: tuple[str, ...] = ()
    traits: frozenset[str] = frozenset()
    exact: bool = False
    largest: int | None = None

    def solve(self, problem: Any, options: Any = None, **keywords: Any) -> Any:
        """Run the solver; ``options`` is its options model, a mapping for it, or nothing for the defaults."""
        if "threads" in keywords:
            keywords["threads"] = usable_threads(keywords["threads"])
        return load(self.solver)(problem, self.configure(options), **keywords)

    @property
    def options_model(self) -> "type[BaseModel]":
        """The Pydantic model of this method's options."""
        model: type[BaseModel] = load(self.options)
        return model

    def configure(self, options: Any = None) -> "BaseModel":
        """The options as a validated model; an ``InputError`` names the field that is wrong."""
        # Pydantic is loaded by those who call a method, not by all who know its name.
        from shoal.settings import checked

        model = self.options_model
        if isinstance(options, model):
            return options
        values: Mapping[str, Any] = options or {}
        for name in values:
            if name not in model.model_fields:
                raise unknown("option", name, model.model_fields, where=f"an option of method '{self.name}'")
        return checked(
            model, values, lambda name: f"option '{name}' of method '{self.name}'", show_values=False
        )


class Registry(Mapping[str, Method]):
    """The methods of one domain, in the order in which they should be shown.

    >>> methods = Registry("sorting", [Method("quick", "m:solve", "m:Options", "the usual one")])
    >>> methods["qiuck"]
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: method 'qiuck' is not a method of sorting; did you mean 'quick'?
    """

    def __init__(self, domain: str, methods: Iterable[Method]) -> None:
        self.domain = domain
        self._methods: dict[str, Method] = {}
        for method in methods:
            if method.name in self._methods:
                raise AssertionError(f"{domain} has two methods named {method.name}")
            self._methods[method.name] = method

    def __getitem__(self, name: str) -> Method:
        if name not in self._methods:
            raise unknown("method", name, self._methods, where=f"a method of {self.domain}")
        return self._methods[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)

    def __contains__(self, name: object) -> bool:
        return name in self._methods
