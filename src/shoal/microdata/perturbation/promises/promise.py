"""The shape of a promise: a sentence, and a check of it on the records before and after."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Outcome:
    """Whether a promise is kept, and what was measured, in words without any value of the data."""

    kept: bool
    measured: str


class Promise(Protocol):
    """Something that holds of a release beside the original; record i of both is the same one."""

    @property
    def text(self) -> str:
        """What is promised, in a sentence."""

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Measure it anew."""
