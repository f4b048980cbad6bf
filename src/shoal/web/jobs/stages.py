"""The stages of a run as the workbench shows them: each with the time it took and how far it is."""

from typing import Any

from shoal.runtime.stages import STAGES, stage_of


def further(stages: list[dict[str, Any]], message: dict[str, Any], now: float) -> list[dict[str, Any]]:
    """The stages so far, with what a message says: another one began, or the last is further.

    >>> found = further(further([], {"phase": "reading"}, 5.0), {"phase": "", "share": 0.5}, 7.0)
    >>> [(stage["stage"], stage["seconds"], stage["share"]) for stage in found]
    [('reading', 2.0, 1.0), ('search', 0.0, 0.5)]
    """
    name, share = stage_of(str(message.get("phase") or "")), message.get("share")
    if stages and stages[-1]["stage"] == name:
        last = stages[-1]
        return [
            *stages[:-1],
            {**last, "seconds": round(now - last["began"], 3), "share": share or last["share"]},
        ]
    begun = {"stage": name, "began": now, "seconds": 0.0, "share": share}
    return [*ended(stages, now), begun]


def ended(stages: list[dict[str, Any]], now: float) -> list[dict[str, Any]]:
    """The stages when the last of them is over."""
    if not stages:
        return []
    return [*stages[:-1], {**stages[-1], "seconds": round(now - stages[-1]["began"], 3), "share": 1.0}]


def in_words(stages: list[dict[str, Any]]) -> str:
    """The stages in a line; one that came again, as bounds between searches do, is told once.

    >>> in_words([{"stage": "reading", "seconds": 0.21, "share": 1.0}, {"stage": "search", "seconds": 4.0, "share": 0.5}])
    'reading 0.2 s · search 4.0 s, 50 %'
    """
    seconds: dict[str, float] = {}
    for item in stages:
        seconds[item["stage"]] = seconds.get(item["stage"], 0.0) + item["seconds"]
    last = stages[-1] if stages else {}

    def far(stage: str) -> str:
        share = last.get("share")
        return (
            f", {100 * share:.0f} %" if stage == last.get("stage") and share is not None and share < 1 else ""
        )

    return " · ".join(f"{stage} {seconds[stage]:.1f} s{far(stage)}" for stage in STAGES if stage in seconds)
