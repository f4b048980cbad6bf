"""``shoal.diff_releases``: what changed between two releases, and what both together give away."""

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import InputError
from shoal.numbers import number
from shoal.release.register.together import Together, read_table, together
from shoal.release.release_reader import OpenedRelease, open_release
from shoal.remarks import Remark, Remarked, note, remarks_in_json
from shoal.report.glance import Glance

# What differs from run to run and tells nothing.
_PASSING = ("seconds", "key", "created")


@dataclass(frozen=True)
class Change:
    """Something that is not the same in both releases; ``None`` where one of them lacks it."""

    part: str
    name: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True, repr=False)
class Difference(Glance, Remarked):
    """What changed, and what both releases give away together."""

    changes: tuple[Change, ...]
    together: tuple[Together, ...]
    remarks: tuple[Remark, ...] = field(default=())

    @property
    def discloses(self) -> bool:
        """Whether both together give away what neither may."""
        return any(item.discloses for item in self.together)

    @property
    def measured(self) -> bool:
        """Whether everything could be measured."""
        return all(item.discloses is not None for item in self.together)

    def glance(self) -> dict[str, Any]:
        """How much changed, and the verdict."""
        return {"changes": len(self.changes), "discloses": self.discloses, "measured": self.measured}

    def to_dict(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "discloses": self.discloses,
            "measured": self.measured,
            "changes": [item.as_json() for item in self.changes],
            "together": [item.as_json() for item in self.together],
            **remarks_in_json(self.remarks),
        }


def diff_releases(
    first: "str | os.PathLike[str]", second: "str | os.PathLike[str]", *, change: float | None = None
) -> Difference:
    """Say what changed between two releases, and what both together give away.

    Records: K of what is seen in both, for an intruder who knows their quasi-identifiers as both releases tell them; records
    are followed by the links of the internal parts. Tables: what one of them shows is known, and the rest is one system.

    Parameters
    ----------
    first : path
        A release; where its internal part is missing only what is public is compared.
    second : path
        Another one.
    change : float, optional
        For tables of two periods: the share by which a figure changes at most, as an intruder knows. Without it only the
        cells are counted that one of them shows and the other hides.

    Returns
    -------
    Difference
        ``changes`` (part, name, before, after), ``together`` (what two files give away together), ``discloses``, ``measured``.

    Raises
    ------
    InputError
        One of the folders is no release.

    See Also
    --------
    release : make one.
    verify_release : check one.

    Examples
    --------
    >>> import pathlib, polars as pl, shoal, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pl.DataFrame({"age": [31, 38, 47, 44] * 5, "sex": list("fmfm") * 5}).write_csv(folder / "people.csv")
    >>> text = '''
    ... [release]
    ... name = "survey"
    ... [sources.people]
    ... data = "people.csv"
    ... roles = {age = "quasi-identifier", sex = "quasi-identifier"}
    ... [[steps]]
    ... do = "drop"
    ... columns = ["age"]
    ... [gates.drop]
    ... k = 6
    ... [outputs]
    ... "safe.csv" = "drop"
    ... '''
    >>> _ = (folder / "plan.toml").write_text(text)
    >>> one = shoal.release(folder / "plan.toml", folder / "one")
    >>> _ = (folder / "plan.toml").write_text(text.replace('["age"]', '["sex"]').replace("k = 6", "k = 5"))
    >>> two = shoal.release(folder / "plan.toml", folder / "two", another=True)
    >>> found = shoal.diff_releases(one.folder, two.folder)
    >>> found.discloses, found.together[0].detail
    (False, 'K of 20 records seen in both is 5 (10 and 5 alone), and 5 is asked for')
    """
    if change is not None:
        number(change, "the share by which figures change", least=0.0)
    one, two = open_release(first), open_release(second)
    changes = [*_settings(one, two), *_figures(one, two), *_gates(one, two), *_outputs(one, two)]
    remarks = [
        note(
            "no-internal-part",
            f"'{opened.name}' has no internal part: its settings and figures, and whose records it holds, are not known",
        )
        for opened in (one, two)
        if opened.inside is None
    ]
    return Difference(tuple(changes), tuple(together(one, two, change)), tuple(remarks))


def _changed(part: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        one, two = before.get(name), after.get(name)
        if one != two and not _close(one, two):
            yield Change(part, name, one, two)


def _close(one: Any, two: Any) -> bool:
    plain = all(isinstance(item, float | int) and not isinstance(item, bool) for item in (one, two))
    return plain and math.isclose(one, two, rel_tol=1e-12)


def _settings(one: OpenedRelease, two: OpenedRelease) -> Iterator[Change]:
    if one.plan is None or two.plan is None:
        told = [{"operations": opened.manifest.get("operations")} for opened in (one, two)]
        yield from _changed("settings", *told)
        return
    plans = [
        {
            f"{step.name}.{name}": value
            for step in plan.steps
            for name, value in {"do": step.do, **step.values}.items()
        }
        | {f"release.{name}": value for name, value in plan.about.model_dump(exclude={"name"}).items()}
        for plan in (one.plan, two.plan)
    ]
    yield from _changed("settings", *plans)


def _figures(one: OpenedRelease, two: OpenedRelease) -> Iterator[Change]:
    if one.inside is None or two.inside is None:
        return
    told = [
        {
            f"{step['name']}.{name}": value
            for step in opened.inside["steps"]  # type: ignore[index]
            for name, value in step["figures"].items()
            if isinstance(value, int | float | str) and name not in _PASSING
        }
        for opened in (one, two)
    ]
    yield from _changed("figures", *told)


def _gates(one: OpenedRelease, two: OpenedRelease) -> Iterator[Change]:
    if one.inside is None or two.inside is None:
        told = [dict.fromkeys(opened.manifest.get("guarantees", []), True) for opened in (one, two)]
        yield from _changed("guarantees", *told)
        return
    measured = [
        {
            f"{gate['step']}.{gate['name']}": {"limit": gate["limit"], "value": gate["value"]}
            for gate in opened.inside["gates"]  # type: ignore[index]
        }
        for opened in (one, two)
    ]
    yield from _changed("gates", *measured)


def _outputs(one: OpenedRelease, two: OpenedRelease) -> Iterator[Change]:
    before, after = ({str(item["file"]): item for item in opened.outputs} for opened in (one, two))
    for file in dict.fromkeys((*before, *after)):
        if file not in before or file not in after:
            yield Change("outputs", file, file in before or None, file in after or None)
        elif before[file]["sha256"] != after[file]["sha256"]:
            yield from _file(one, two, file, {before[file].get("kind"), after[file].get("kind")})


def _file(one: OpenedRelease, two: OpenedRelease, file: str, kinds: set[Any]) -> Iterator[Change]:
    if kinds == {"records"}:
        shapes = [
            {f"{file}: records": frame.height, f"{file}: columns": frame.columns}
            for frame in (one.frame(file), two.frame(file))
        ]
        found = list(_changed("outputs", *shapes))
        yield from found or [Change("outputs", f"{file}: values", "as they were", "others")]
    elif kinds == {"table"}:
        yield from _cells(one, two, file)
    else:
        yield Change("outputs", f"{file}: content", "as it was", "other")


def _cells(one: OpenedRelease, two: OpenedRelease, file: str) -> Iterator[Change]:
    """Cells by their numbers in the second table: newly hidden, newly shown."""
    try:
        before, after = read_table(one, file), read_table(two, file)
    except InputError:
        yield Change("outputs", f"{file}: content", "as it was", "other")
        return
    if before.dimensions != after.dimensions:
        yield Change("outputs", f"{file}: dimensions", list(before.dimensions), list(after.dimensions))
        return
    common = [key for key in after.cells if key in before.cells]
    gone = len(before.cells) - len(common), len(after.cells) - len(common)
    if any(gone):
        yield Change("cells", f"{file}: only in one", *gone)
    moved = {
        "newly hidden": [key for key in common if after.cells[key] is None and before.cells[key] is not None],
        "newly shown": [key for key in common if after.cells[key] is not None and before.cells[key] is None],
    }
    for words, keys in moved.items():
        if keys:
            yield Change("cells", f"{file}: {words}", 0, [after.number(key) for key in keys])
    figures = sum(
        after.cells[key] != before.cells[key]
        for key in common
        if None not in (after.cells[key], before.cells[key])
    )
    if figures:
        yield Change("cells", f"{file}: other figures", 0, figures)
