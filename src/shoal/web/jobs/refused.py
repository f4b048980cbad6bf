"""A result that is not what was required: the run has failed, and its figures and its report say by how much."""

from typing import Any

from shoal.errors import Infeasible


class Refused(Infeasible):
    """What was required does not hold; nothing is released, and the ``figures`` and the ``files`` (the report) are told."""

    def __init__(self, message: str, figures: dict[str, Any], files: list[dict[str, str]]) -> None:
        super().__init__(message)
        self.figures = figures
        self.files = files
