"""The terminal a workbench was started from: it prints addresses, and at the end asks what becomes of the workspace."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.numbers import counted

if TYPE_CHECKING:
    from shoal.web.server import Farewell


class Terminal:
    """What is said to the person who started the workbench, and what they answer."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self.asks = sys.stdin is not None and sys.stdin.isatty()
        self._answers: SimpleQueue[str] | None = None

    def say(self, text: str) -> None:
        """Tell something, unless nobody wants to know."""
        if not self._quiet:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def listen(self, fresh: Callable[[], str]) -> None:
        """Print an address for every line that is entered, until something is asked."""
        if self.asks:
            threading.Thread(target=self._listen, args=(fresh,), daemon=True).start()

    def _listen(self, fresh: Callable[[], str]) -> None:
        for line in sys.stdin:
            if self._answers is not None:
                self._answers.put(line)
            else:
                sys.stdout.write(f"{fresh()}\n")
                sys.stdout.flush()
        if self._answers is not None:
            self._answers.put("")

    def farewell(self, leaving: "Farewell") -> None:
        """Ask whether a temporary workspace is to be kept, and let searches end with their best if it is."""
        if leaving.keeping.removed_at_the_end and leaving.used and self.asks:
            self._ask_to_keep(leaving)
        if leaving.searches and not leaving.keeping.removed_at_the_end:
            runs = counted(leaving.searches, "run")
            self.say(f"Ending {runs}: searches are saved with the best they have; Ctrl-C ends them at once.")
            saved = leaving.save_searches()
            self.say(f"{counted(saved, 'search', 'searches')} saved.")

    def _ask_to_keep(self, leaving: "Farewell") -> None:
        self._answers = SimpleQueue()
        suggestion = leaving.keeping.suggestion()
        while True:
            sys.stderr.write(
                f"\nData and results are {leaving.keeping.in_words()}.\n"
                f"Keep them? y for {suggestion}, or another folder; Enter removes them: "
            )
            sys.stderr.flush()
            answer = self._answers.get().strip()
            if not answer or answer.lower() in ("n", "no"):
                return
            try:
                leaving.keeping.keep(suggestion if answer.lower() in ("y", "yes") else Path(answer))
                return
            except InputError as problem:
                sys.stderr.write(f"{problem}\n")

    def gone(self, folder: Path | None) -> None:
        """Tell where the workspace is now."""
        if folder is None:
            self.say("The temporary workspace was removed. To keep one: shoal serve --workspace FOLDER")
        else:
            self.say(
                f"Data and results are in {folder}; shoal serve --workspace '{folder}' goes on with them."
            )
