"""Plans many repositories for several GPUs: whether each plan has a stack or a reason, and how long it takes.

    python benchmarks/plan.py FOLDER... [--gpu gfx942 ...]

Each FOLDER is scanned once; the time is that of the plan, without the scan.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

from rocm3d.knowledge.load import load
from rocm3d.plan.stage import plan
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

GPUS = ["gfx942", "gfx1100", "gfx1151", "gfx1201"]


def main() -> None:
    """Print one line per plan, then the slowest; exit 1 if a plan has neither a stack nor reasons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--gpu", action="append", default=[])
    options = parser.parse_args()
    knowledge, slowest, without_reason = load(), 0.0, 0
    today = datetime.now(timezone.utc).date()
    for folder in options.folders:
        scanned = scan(Tree.open(folder), knowledge, Selection(), lambda _: None)
        for name in options.gpu or GPUS:
            start = time.perf_counter()
            document = plan(scanned, knowledge.gpu(name), knowledge, today)
            seconds = time.perf_counter() - start
            slowest = max(slowest, seconds)
            counts = Counter(item.decision for item in document.decisions)
            stack = document.stack.id if document.stack else "none: see rejected_stacks"
            without_reason += document.stack is None and not all(item.reason for item in document.rejected_stacks)
            kinds = " ".join(f"{kind}:{count}" for kind, count in sorted(counts.items()))
            print(f"{folder.name:32} {name:8} {seconds:5.2f} s {document.readiness:15} {stack:36} {kinds}")
    print(f"slowest plan {slowest:.2f} s on {platform.machine()}, Python {platform.python_version()}")
    sys.exit(1 if without_reason else 0)


if __name__ == "__main__":
    main()
