"""Whether Ctrl-C was pressed in this command, and whether its result was told before."""

from dataclasses import dataclass


@dataclass
class Interrupts:
    """What a command remembers of Ctrl-C: libraries may swallow the exception that it raises."""

    asked: bool = False
    #: A line about it stands on standard error.
    said: bool = False
    #: The result stands on standard output.
    told: bool = False

    def reset(self) -> None:
        """Forget everything, at the beginning of a command."""
        self.asked = self.said = self.told = False


#: Of the command that runs in this process.
interrupts = Interrupts()
