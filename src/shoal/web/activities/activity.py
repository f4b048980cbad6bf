"""What an activity is: a request that can be checked, and a function that does it in a worker process."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from pydantic_core import PydanticKnownError

from shoal.errors import InputError
from shoal.web.activities.agreement import agree, named_data
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.operation import Operation
    from shoal.runtime import Registry
    from shoal.web.datasets import Datasets


class Request(BaseModel):
    """The base of every request: unknown fields are refused, and numbers that are none or have no end."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _finite(cls, value: Any) -> Any:
        # A bound that is not there may be infinite on the command line; JSON has no such numbers.
        if isinstance(value, float) and not math.isfinite(value):
            raise PydanticKnownError("finite_number")
        return value


# Where a field may be one thing or several, the place of an error names which was tried.
_TAG = re.compile(r"str|list\[.*\]|constrained-.*|function-.*")


def _first(error: ValidationError) -> Any:
    """The first error; of a field that may be a name or a list of names, the one about the list."""
    found = error.errors(include_url=False, include_input=False)
    same = [item for item in found if item["loc"][:1] == found[0]["loc"][:1]]
    return next((item for item in same if item["type"] != "string_type"), found[0])


@dataclass(frozen=True)
class Activity:
    """One thing the workbench can do, in the words of the command line.

    A ``search`` can be paused, and stopped with the best it has found. What is ``internal`` has no page of its own.
    With ``methods`` the method a request names and its options are checked before it is accepted; what is an ``operation``
    is checked against the data, too; ``as_settings`` makes its settings of a request that is not put like them, and ``also``
    looks at what else it names.
    """

    kind: str
    name: str
    request_model: type[Request]
    run: Callable[[Any, Context], dict[str, Any]]
    title: Callable[[Any], str]
    search: bool = False
    internal: bool = False
    methods: "Registry | None" = None
    operation: "Operation | None" = None
    as_settings: Callable[[dict[str, Any]], dict[str, Any]] = dict
    also: "Callable[[dict[str, Any], Datasets], None] | None" = None

    def check(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request with its defaults; an ``InputError`` names the field that is wrong."""
        try:
            checked = self.request_model.model_validate(request).model_dump(mode="json")
        except ValidationError as error:
            first = _first(error)
            field = ".".join(str(part) for part in first["loc"] if not _TAG.fullmatch(str(part)))
            raise InputError(f"{field.replace('_', ' ') or 'the request'}: {self._wrong(first)}") from None
        if self.methods is not None:
            self.methods[checked["method"]].configure(checked["options"])
        return checked

    def named_data(self, request: dict[str, Any]) -> list[str]:
        """The data of the workspace that a request names."""
        return [] if self.operation is None else named_data(self.operation, self.as_settings(request))

    def agree(self, request: dict[str, Any], datasets: "Datasets") -> None:
        """Refuse a checked request that its data cannot answer."""
        if self.operation is not None:
            agree(self.operation, self.as_settings(request), datasets)
        if self.also is not None:
            self.also(request, datasets)

    def _wrong(self, problem: Any) -> str:
        """What is wrong with a field, for somebody who does not know how it was checked."""
        if problem["type"] in ("too_short", "string_too_short"):
            return "nothing is chosen" if problem["type"] == "too_short" else "nothing is written"
        described = self.request_model.model_fields.get(str(problem["loc"][0])) if problem["loc"] else None
        if problem["type"] == "string_pattern_mismatch" and described is not None and described.description:
            return described.description
        text: str = problem["msg"]
        return text.replace("Input should", "should").removeprefix("Value error, ")

    def title_of(self, request: dict[str, Any]) -> str:
        """A line by which a person recognises the run."""
        return self.title(self.request_model.model_validate(request))
