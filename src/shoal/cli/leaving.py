"""How a command that has told everything leaves with another exit code than 0."""


class Leave(Exception):
    """The command is over, and this is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
