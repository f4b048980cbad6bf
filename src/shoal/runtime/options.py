"""The base of every method's options."""

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Options of one method: frozen; unknown names are refused, and numbers that are none or have no end."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False, allow_inf_nan=False)


class NoOptions(Options):
    """The options of a method that has none."""
