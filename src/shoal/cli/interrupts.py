"""Whether Ctrl-C was pressed in this command, and whether its result was told before."""

from dataclasses import dataclass


@dataclass
class Interrupts:
    """What a command remembers of Ctrl-C: libraries may swallow the exception that it raises."""

    pressed: bool = False
    #: A line about it stands on standard error.
    announced: bool = False
    #: The result stands on standard output.
    reported: bool = False

    def reset(self) -> None:
        """Forget everything, at the beginning of a command."""
        self.pressed = self.announced = self.reported = False


#: Of the command that runs in this process.
interrupts = Interrupts()
