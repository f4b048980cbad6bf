"""The base of every method's options."""

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Options of one method: frozen, and unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)


class NoOptions(Options):
    """The options of a method that has none."""
