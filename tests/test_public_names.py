"""Names that somebody types, reads by machine or has stored stay; ``python -m tests.public_names`` records new ones."""

import json

from tests import public_names


def test_public_names_stay() -> None:
    recorded = json.loads(public_names.PATH.read_text(encoding="utf-8"))
    names = public_names.collect()
    assert list(recorded) == list(names)
    for where, known in recorded.items():
        assert not set(known) - set(names[where]), f"{where}: these names are gone"
        assert not set(names[where]) - set(known), f"{where}: record these with python -m tests.public_names"
