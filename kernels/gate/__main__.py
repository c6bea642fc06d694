"""`python -m gate quick | full | check`, in the folder kernels/.

quick: one dtype, gfx942 and gfx1100, cached by digest; part of `make test`. full: all dtypes and targets, with the
oldest and the newest Triton, written to gate.json; `make gate`. check: whether gate.json matches the sources; standard
library only.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gate.lint import problems
from gate.sources import PACKAGE, digest, digests, operations

KERNELS_FOLDER = Path(__file__).resolve().parents[1]
TABLE = KERNELS_FOLDER / "gate.json"
CACHE_FOLDER = KERNELS_FOLDER.parent / "build" / "gate"


def compile_operation(op: str, *options: str, triton: Path | None = None) -> list[dict[str, Any]]:
    """Rows of one operation, compiled in a child process: Triton's interpreter must be off there."""
    if not (PACKAGE / op / "gate.py").is_file():
        return [{"op": op, "kernel": "", "target": "", "problem": "gate.py with the list of its kernels is missing"}]
    path = (
        [str(KERNELS_FOLDER), str(KERNELS_FOLDER / "src")]
        if triton is None
        else [str(triton), str(KERNELS_FOLDER), str(KERNELS_FOLDER / "src")]
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "TRITON_DEFAULT_FP_FUSION": "1"}
    environment.pop("TRITON_INTERPRET", None)
    command = [sys.executable, "-m", "gate.compile", op, *options]
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=KERNELS_FOLDER)  # noqa: S603
    if process.returncode:
        return [{"op": op, "kernel": "", "target": "", "problem": process.stderr.strip()[-2000:]}]
    rows: list[dict[str, Any]] = json.loads(process.stdout)
    return rows


def cached_rows(op: str, scope: str, triton: Path | None = None) -> list[dict[str, Any]]:
    """Rows of one operation with one Triton release, from the cache if they compiled without problems before."""
    from importlib.metadata import version  # noqa: PLC0415

    name = triton.name if triton else f"triton-{version('triton')}"
    cache_file = CACHE_FOLDER / f"{scope}-{op}-{digest(op)[:16]}-{name}.json"
    known_rows = read_rows(cache_file)
    if known_rows is not None:
        return known_rows
    rows = compile_operation(op, *(["--quick"] if scope == "quick" else []), triton=triton)
    if not row_problems(rows):
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        scratch = cache_file.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(json.dumps(rows), encoding="utf-8")
        scratch.replace(cache_file)
    return rows


def read_rows(cache_file: Path) -> list[dict[str, Any]] | None:
    """Rows of a cached compilation; None if there are none or the file is damaged, as by a full disk."""
    try:
        rows = json.loads(cache_file.read_bytes()) if cache_file.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) and "problem" in row for row in rows):
        return None
    return rows


def all_rows(scope: str, *tritons: Path) -> list[dict[str, Any]]:
    """Rows of every operation with the installed Triton and with those in the folders, on all cores."""
    jobs = [(op, triton) for op in operations() for triton in (None, *tritons)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [
            row
            for operation_rows in pool.map(lambda job: cached_rows(job[0], scope, job[1]), jobs)
            for row in operation_rows
        ]


def quick_problems() -> list[str]:
    """Problems of the current sources."""
    return problems() + row_problems(all_rows("quick"))


def full_problems(tritons: list[Path]) -> list[str]:
    """Problems with the installed Triton and with those unpacked in the folders; without problems writes gate.json."""
    rows = all_rows("full", *tritons)
    found_problems = problems() + row_problems(rows)
    if not found_problems:
        keys = (
            "op",
            "kernel",
            "dtype",
            "constants",
            "triton",
            "target",
            "wave",
            "vgprs",
            "sgprs",
            "spills",
            "scratch",
            "lds",
        )
        table = {
            "made": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
            "triton": sorted({row["triton"] for row in rows}),
            "targets": sorted({row["target"] for row in rows}),
            "sources": digests(),
            "rows": [{key: row[key] for key in keys} for row in rows],
        }
        head = json.dumps({**table, "rows": []}, indent=1).removesuffix("[]\n}")
        TABLE.write_text(head + "[\n  " + ",\n  ".join(map(json.dumps, table["rows"])) + "\n ]\n}\n", encoding="utf-8")
    return found_problems


def outdated_operations(table: Path = TABLE) -> list[str]:
    """One line for each operation whose sources changed after the table was written."""
    if not table.is_file():
        return ["gate.json is missing. Write it: make gate"]
    known, now = json.loads(table.read_text(encoding="utf-8"))["sources"], digests()
    return [
        f"gate.json is outdated: the sources of {op} changed. Compile them and write it: make gate"
        for op in sorted(known | now)
        if known.get(op) != now.get(op)
    ]


def row_problems(rows: list[dict[str, Any]]) -> list[str]:
    """One line for each row with a problem."""
    labels = ("op", "kernel", "dtype", "target", "triton")
    return [
        f"{' '.join(row[key] for key in labels if row.get(key))}: {row['problem']}" for row in rows if row["problem"]
    ]


def main() -> int:
    """Exit code 0 without problems, 1 with problems, 2 for wrong usage."""
    kind, *folders = sys.argv[1:] or ["quick"]
    if kind not in ("quick", "full", "check"):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    missing = [item for item in folders if not (Path(item) / "triton").is_dir()]
    if missing:
        sys.stderr.write(f"{missing[0]} has no package triton. Install one: pip install --target {missing[0]} triton\n")
        return 2
    if kind == "full":
        found_problems = full_problems([Path(item).resolve() for item in folders])
    else:
        found_problems = quick_problems() if kind == "quick" else outdated_operations()
    for line in found_problems:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"gate {kind}: {len(operations())} operations, problems: {len(found_problems)}\n")
    return 1 if found_problems else 0


if __name__ == "__main__":
    sys.exit(main())
