"""Attacks rocm3d at its command line, as an attacker and as bad luck would: kills, concurrent commands, full disks,
hostile repositories, secrets in workloads, and edits that should not pass as invisible to NVIDIA users.

    python scripts/attack.py                              everything: 1,000 kills, 200 pairs, 100 disks, 200 trees, ...
    python scripts/attack.py --only kills,pairs --count 20
    python scripts/attack.py --only trees --case 17       one case again; its folder stays in build/attack/broken

Results are in build/attack: one line of JSON for each case, summary.json, and the folders of broken cases. A case
depends on --seed and its number only. Exit code 1 if a promise was broken, 4 if cases were not run. Linux only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from attacks import runner
from attacks.cases import run_git
from attacks.commands import load_program

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "attack"
ATTACKS = ("kills", "pairs", "disks", "trees", "isolation", "secrets")


def main() -> None:
    """Run the command."""
    options = _options()
    names = options.only.split(",") if options.only else list(ATTACKS)
    if unknown := [name for name in names if name not in ATTACKS]:
        sys.exit(f"unknown attack {unknown[0]}; one of {', '.join(ATTACKS)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    load_program()
    deadline = time.monotonic() + options.seconds
    settings = runner.Settings(FOLDER, options.seed, options.processes, deadline, options.resume, options.case)
    summaries = []
    for name in names:
        attack: Any = importlib.import_module(f"attacks.{name}")
        summaries.append(runner.run_attack(attack, options.count or attack.COUNT, settings, _show))
        _store(summaries, options.seed)
    print(runner.table(summaries))
    if any(item.broken for item in summaries):
        sys.exit(1)
    unfinished = [item for item in summaries if item.not_run or item.run < item.requested]
    for item in unfinished:
        print(f"{item.attack}: {item.requested - item.run} not run: {'; '.join(item.reasons) or 'out of time'}")
    sys.exit(4 if unfinished else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"attacks, separated by commas: {', '.join(ATTACKS)}")
    parser.add_argument("--count", type=int, default=0, help="cases of each attack; default: those of a full run")
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=2400.0, help="no case starts after this time")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--resume", action="store_true", help="omit cases that the stored results have")
    parser.add_argument("--case", type=int, help="run only the case with this number")
    return parser.parse_args()


def _show(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _commit() -> str:
    """The commit of the checkout, if it is one."""
    try:
        return run_git(ROOT, "rev-parse", "HEAD").strip()
    except subprocess.CalledProcessError:
        return ""


def _store(summaries: list[runner.Summary], seed: int) -> None:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    document = {
        "date": datetime.now(timezone.utc).date().isoformat(), "commit": _commit(), "seed": seed, "machine": machine,
        "attacks": [asdict(item) for item in summaries],
    }  # fmt: skip
    (FOLDER / "summary.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
