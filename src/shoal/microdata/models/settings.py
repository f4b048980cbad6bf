"""How models are asked for, wherever there are some."""

from typing import Annotated, TypeAlias

from shoal.settings import Spelling


def _are_models(texts: list[str]) -> None:
    from shoal.microdata.models.reading import read_model

    for text in texts:
        # Whether a model has its column is another question, which more than its text decides.
        read_model(text, [text.rpartition(":")[0].strip() or "any"])


#: Models like ``distinct(3)``.
Models: TypeAlias = Annotated[
    list[str], Spelling("rules", "MODEL", list, " ".join, repeated=True, check=_are_models)
]

MODELS_IN_WORDS = (
    "distinct(3), entropy(3), recursive(3,3), closeness(0.2), closeness(0.15,ordered), likeness(1), "
    "k-map(10), presence(0,0.5), average-risk(0.05), largest-risk(0.1)"
)
