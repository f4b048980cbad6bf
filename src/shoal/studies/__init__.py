"""Published experiments, repeated: one file each, published and measured figures side by side."""

from shoal.studies.study import (
    STUDIES,
    Findings,
    Picture,
    Row,
    Scope,
    Standing,
    Step,
    Study,
    load,
    run,
    standing,
)

__all__ = [
    "STUDIES",
    "Findings",
    "Picture",
    "Row",
    "Scope",
    "Standing",
    "Step",
    "Study",
    "load",
    "run",
    "standing",
]
