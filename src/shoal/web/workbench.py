"""Everything one session of the workbench has, in one place."""

from dataclasses import dataclass

from shoal.web.connections import Connections
from shoal.web.datasets import Datasets
from shoal.web.entry import Entry
from shoal.web.jobs.board import Board
from shoal.web.keeping import Keeping
from shoal.web.project import Project
from shoal.web.workspace import Workspace

#: The largest file that is accepted unless the user says otherwise.
LARGEST_UPLOAD_MB = 2048


@dataclass(frozen=True)
class Workbench:
    """The workspace and what works on it."""

    workspace: Workspace
    datasets: Datasets
    connections: Connections
    board: Board
    largest_upload: int
    entry: Entry
    port: int
    keeping: Keeping

    @property
    def project(self) -> Project:
        """What was run here, as steps."""
        return Project(self.workspace, self.board, self.datasets)

    def address(self) -> str:
        """An address that opens the workbench once, in a browser of this machine."""
        return f"http://127.0.0.1:{self.port}/?code={self.entry.code()}"

    @classmethod
    def at(cls, keeping: Keeping, *, entry: Entry, port: int, largest_upload: int) -> "Workbench":
        """A workbench on the folder that is held for it."""
        workspace = Workspace(keeping.folder)
        datasets = Datasets(workspace)
        datasets.tidy()
        return cls(
            workspace,
            datasets,
            Connections(workspace),
            Board(workspace),
            largest_upload,
            entry,
            port,
            keeping,
        )
