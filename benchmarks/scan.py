"""Speed of the scanner: ratios in one run on the same files, against semgrep and against itself with the cache.

    python benchmarks/scan.py FOLDER... --semgrep PATH/TO/semgrep

Both tools use two processes and the twenty rules of semgrep.yml (ours by name with --only, cache off). The benchmark
stops without a ratio if either tool fails, or if a cached scan says something else.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rocm3d

HERE = Path(__file__).resolve().parent
RULES = HERE / "semgrep.yml"


def rule_names() -> list[str]:
    """The rules of the peer's file that our scanner has, too."""
    from rocm3d.scan.detector import detectors

    ours = {detector.rule for detector in detectors()}
    named = [
        line.split("id: ")[1].split(",")[0] for line in RULES.read_text(encoding="utf-8").splitlines() if "id: " in line
    ]
    return [name for name in named if name in ours]


def timed(command: list[str], env: dict[str, str]) -> tuple[float, int, str]:
    """Seconds, peak memory of the largest process in MiB, and stdout."""
    start = time.perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    seconds = time.perf_counter() - start
    if ended.returncode not in (0, 1):
        sys.exit(f"{command[0]} failed: {ended.stderr[-500:]}")
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, ended.stdout


def ours(folder: Path, *options: str, cache: Path) -> list[str]:
    """Our command line; documents go to a throw-away folder."""
    program = [sys.executable, "-c", "from rocm3d.cli.main import main; main()"]
    return [*program, "scan", str(folder), "--format", "json", "--quiet", "--work", str(cache / "work"), *options]


def measure(folder: Path, semgrep: str | None, repeats: int) -> dict[str, object]:
    """All figures for one folder; medians over the repeats."""
    names = rule_names()
    only = [word for name in names for word in ("--only", name)]
    with tempfile.TemporaryDirectory() as scratch:
        env = {**os.environ, "ROCM3D_CACHE": f"{scratch}/cache"}
        place = Path(scratch)
        twenty = [timed(ours(folder, "--no-cache", *only, cache=place), env) for _ in range(repeats)]
        cold = timed(ours(folder, cache=place), env)
        warm = [timed(ours(folder, cache=place), env) for _ in range(repeats)]
        if cold[2] != warm[0][2]:
            sys.exit("the cached scan says something else")
        row: dict[str, object] = {
            "folder": folder.name,
            "files": json.loads(cold[2])["inventory"]["counts"]["files"],
            "rules": len(names),
            "findings": len(json.loads(twenty[0][2])["findings"]),
            "seconds": round(statistics.median(seconds for seconds, _, _ in twenty), 2),
            "all_rules_seconds": round(cold[0], 2),
            "cached_ratio": round(statistics.median(seconds for seconds, _, _ in warm) / cold[0], 3),
            "peak_mib": cold[1],
        }
        if semgrep:
            command = [semgrep, "scan", "--config", str(RULES), "--metrics", "off", "--disable-version-check", "--json",
                       "-j", "2", "--no-git-ignore", "--quiet", str(folder)]  # fmt: skip
            peer = [timed(command, dict(os.environ)) for _ in range(repeats)]
            row["semgrep_seconds"] = round(statistics.median(seconds for seconds, _, _ in peer), 2)
            row["semgrep_findings"] = len(json.loads(peer[0][2])["results"])
            row["times_faster"] = round(float(str(row["semgrep_seconds"])) / float(str(row["seconds"])), 1)
    return row


def main() -> None:
    """Print one row a folder, and the machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--semgrep", default=shutil.which("semgrep"))
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, rocm3d {rocm3d.__version__}"
    )
    rows = [measure(folder.resolve(), given.semgrep, given.repeats) for folder in given.folders]
    print(json.dumps({"machine": machine, "semgrep": given.semgrep is not None, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
