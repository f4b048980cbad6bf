"""What was required of a result, and whether it holds: each gate judged as if it stood alone."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import as_words, spelled
from shoal.operation import Operation
from shoal.settings import SettingField


def gates(
    operation: Operation, result: Any, settings: Any, measured: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Every gate that is set, with its limit, what was ``measured`` for it, whether it holds, and why not."""
    asked = [item.name for item in operation.fields("workbench") if is_gate(item)]
    found = []
    for item in operation.fields("workbench"):
        limit = getattr(settings, item.name) if item.name in asked else None
        if limit is None or limit is False or operation.gate is None:
            continue
        others = {name: type(settings).model_fields[name].default for name in asked if name != item.name}
        refused = operation.gate(result, settings.model_copy(update=others))
        found.append(
            {
                "gate": item.name,
                "label": item.label,
                "limit": limit,
                "measured": measured.get(item.name),
                "passed": refused is None,
                "words": "" if refused is None else spelled(refused, as_words).partition("; ")[0],
            }
        )
    return found


def is_gate(item: SettingField) -> bool:
    """Whether a setting is something that must hold."""
    return item.name.startswith("require_") or item.name == "max_risk"
