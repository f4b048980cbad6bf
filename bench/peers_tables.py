"""Shoal against pytauargus on public instances, in one run on one machine; the peer lives in an environment of its own.

The interpreter of that environment is named by SHOAL_PEERS_PYTHON; without it the peer's columns are left out. Instances
are those of SHOAL_DATA. Figures are costs and ratios of CPU time: of the search alone, and of whole processes from their start to
their end (of several turns the fastest), ours with the pattern read, proved, verified and written.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.start_up import cpu, shoal
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.files import jj
from shoal.tables.methods import METHODS
from shoal.tables.verify import verify
from shoal.tables.warm_up import warm_up

INSTANCES = (
    "synth2d_10x10_10pct",
    "synth2d_20x20_10pct",
    "targus",
    "sumit_test",
    "rtau_turnover_act_size",
    "ssb_z3_freq",
    "synth2d_50x50_10pct",
)
# Optima that two independent exact methods agree on.
OPTIMA = {
    "synth2d_10x10_10pct": 1319.0,
    "synth2d_20x20_10pct": 7006.0,
    "targus": 2414.0,
    "sumit_test": 1637.0,
    "rtau_turnover_act_size": 38310.0,
    "ssb_z3_freq": 947.0,
    "synth2d_50x50_10pct": 3644.0,
}
MOST_CPU = 3.0
# The whole command is to be no slower.
MOST_COMMAND = 1.0
TURNS = 3
# Longer than the peer takes on any of them where it ends at all.
PATIENCE = 300

_PEER = """
import json, sys, time
from pathlib import Path
import pytauargus
out = Path.cwd() / "out"
began = time.process_time()
code = pytauargus.HiTaSCtrl().full_jj(in_file_jj=sys.argv[1], out_file=str(out), max_time=int(sys.argv[2]))
seconds = time.process_time() - began
cells = [int(line.split()[0]) for line in out.read_text().splitlines() if line.split()] if out.exists() else []
print(json.dumps({"code": code, "cells": cells, "seconds": seconds}))
"""


def run() -> list[dict[str, Any]]:
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        print("SHOAL_DATA is not set; no public instances to compare on", file=sys.stderr)
        return []
    warm_up()
    rows = []
    for name in INSTANCES:
        path = Path(folder) / "tabular" / "jj" / f"{name}.jj"
        if not path.exists():
            print(f"{path.name} is missing", file=sys.stderr)
            continue
        problem = jj.read(path).problem
        began = time.process_time()
        found = METHODS["auto"].solve(
            problem, None, budget=Budget(seconds=120), seeds=Seeds(0), observer=silent
        )
        seconds = time.process_time() - began
        verify(problem, found)
        best = OPTIMA[name]
        rows.append(_row(f"{name}: cost over the optimum", found.value / best, 1.0, "ratio"))
        theirs = peer(path)
        if theirs is not None:
            rows.append(_row(f"{name}: CPU over the peer's", seconds / theirs["seconds"], MOST_CPU, "ratio"))
            with tempfile.TemporaryDirectory() as place:
                ours = min(
                    cpu(shoal(f"suppress {path.resolve()} -o p.jj --force"), place) for _ in range(TURNS)
                )
            ratio = ours / theirs["command"]
            rows.append(
                _row(f"{name}: CPU of the whole command over the peer's", ratio, MOST_COMMAND, "ratio")
            )
            cost = problem.total_cost(
                np.setdiff1d(np.array(theirs["cells"], dtype=np.int64), problem.sensitive)
            )
            rows.append(
                _row(f"{name}: cost over the peer's", found.value / cost if cost else 1.0, 1.0, "ratio")
            )
    return rows


def peer(path: Path) -> dict[str, Any] | None:
    """The peer's cost and CPU seconds, if it can be had."""
    python = os.environ.get("SHOAL_PEERS_PYTHON")
    if not python:
        return None
    arguments = [python, "-c", _PEER, str(path.resolve()), "1"]
    command = float("inf")
    # The peer leaves logs in the folder it is started in.
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(TURNS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                done = subprocess.run(
                    arguments, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=folder
                )
            except subprocess.TimeoutExpired:
                print(f"the peer did not end on {path.name}", file=sys.stderr)
                return None
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            command = min(command, spent)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {}
    if not found or not found["cells"]:
        print(f"the peer found nothing on {path.name}", file=sys.stderr)
        return None
    return {**found, "command": command}


def _row(name: str, measured: float, limit: float, unit: str) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": measured <= limit + 1e-6}
