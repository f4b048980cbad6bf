"""Which processor this is, as far as machine code depends on it."""

import re
import sys
from functools import cache
from pathlib import Path

_TELLING = ("vendor_id", "cpu family", "model", "flags")
# Names that Linux has for sets of instructions; its other flags tell of repairs and of the machine around the processor.
_INSTRUCTIONS = re.compile(
    "(a[de]x|aes|abm|amx|apx|avx|bmi|cl[fwz]|cmov|cmpccxadd|cx|f16c|fma|fsrm|fxsr|gfni|lahf|lwp|lzcnt|mmx|mov|p?clmul|pni|popcnt"
    "|prefetch|3dnow|raoint|rd|rtm|sha|sm[34]|ss?se|tbm|vaes|vpcl|xop|xsave)"
)


@cache
def processor() -> str:
    """The kind of processor and what it can do; where the system does not say so, the compiler knows."""
    if sys.platform.startswith("linux"):
        try:
            text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        found = told(text)
        if found is not None:
            return found
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    return repr((llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()))


def told(text: str) -> str | None:
    r"""The first processor of those that Linux tells of, without what changes with the system; ``None`` if it says too little.

    >>> told("vendor_id\t: Acme\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: X\nflags\t\t: sse2 hypervisor avx\n")
    "['Acme', '6', '85', 'avx sse2']"
    """
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    said = {name.strip(): value.strip() for name, _, value in lines}
    if not all(said.get(name) for name in _TELLING):
        return None
    flags = sorted(flag for flag in said["flags"].split() if _INSTRUCTIONS.match(flag))
    return repr([*(said[name] for name in _TELLING[:-1]), " ".join(flags)])
