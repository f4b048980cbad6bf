"""Steps that were taken, written down for others: as a plan, as a Python script, as commands for a shell."""

from shoal.release.export.as_commands import shell_commands
from shoal.release.export.as_plan import plan_text
from shoal.release.export.as_script import python_script
from shoal.release.export.taken import Source, Taken

__all__ = ["Source", "Taken", "plan_text", "python_script", "shell_commands"]
