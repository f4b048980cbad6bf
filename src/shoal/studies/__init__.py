"""Published experiments, repeated: one file each, published and measured figures side by side."""

from shoal.studies.study import STUDIES, Findings, Row, Scope, Step, Study, load, run

__all__ = ["STUDIES", "Findings", "Row", "Scope", "Step", "Study", "load", "run"]
