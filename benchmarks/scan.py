"""Speed of the scanner on the same files in one run, compared with semgrep and with its own cache.

    python benchmarks/scan.py FOLDER... --semgrep PATH/TO/semgrep

Both tools have two cores and two processes, the twenty rules of semgrep.yml (ours by name with --only, cache off), and
bytecode, as after an installation.
Then all our rules run, first with an empty cache and then with a full one. The kinds of call take turns, so that a
busy machine affects both tools. The benchmark stops without a ratio if a tool fails, or if the output of a cached scan
differs.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import rocm3d

HERE = Path(__file__).resolve().parent
RULES = HERE / "semgrep.yml"


def rule_names() -> list[str]:
    """The rules of semgrep.yml that our scanner has too."""
    from rocm3d.knowledge.load import load
    from rocm3d.scan.detector import active_rules

    ours = {rule.rule for rule in active_rules(load())}
    named = [
        line.split("id: ")[1].split(",")[0] for line in RULES.read_text(encoding="utf-8").splitlines() if "id: " in line
    ]
    return [name for name in named if name in ours]


@dataclass(frozen=True)
class TimedRun:
    """One call: seconds, MiB of its largest process, and its output."""

    seconds: float
    mib: int
    out: str


def run_timed(command: list[str], env: dict[str, str]) -> TimedRun:
    # Both tools run with bytecode, as installed, whatever the environment of this benchmark sets.
    env = {name: value for name, value in env.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode not in (0, 1):
            sys.exit(f"{command[0]} failed: {err.read()[-500:].decode('utf-8', 'replace')}")
        return TimedRun(seconds, usage.ru_maxrss // 1024, out.read().decode())


def rocm3d_command(folder: Path, *options: str, work: Path) -> list[str]:
    """The rocm3d command; documents go to a temporary folder."""
    program = [sys.executable, "-c", "from rocm3d.cli.main import main; main()"]
    return [*program, "scan", str(folder), "--format", "json", "--quiet", "--work", str(work), *options]


def semgrep_command(folder: Path, semgrep: str) -> list[str]:
    """The semgrep command, with the same rules and number of processes."""
    return [semgrep, "scan", "--config", str(RULES), "--metrics", "off", "--disable-version-check", "--json",
            "-j", "2", "--no-git-ignore", "--quiet", str(folder)]  # fmt: skip


def measure(folder: Path, semgrep: str | None, repeats: int) -> dict[str, object]:
    """Medians for one folder; each repeat has every kind of call."""
    names = rule_names()
    only = [word for name in names for word in ("--only", name)]
    runs: dict[str, list[TimedRun]] = {"twenty": [], "peer": [], "first": [], "second": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as scratch:
            env, work = {**os.environ, "ROCM3D_CACHE": f"{scratch}/cache"}, Path(scratch) / "work"
            runs["twenty"].append(run_timed(rocm3d_command(folder, "--no-cache", *only, work=work), env))
            if semgrep:
                runs["peer"].append(run_timed(semgrep_command(folder, semgrep), dict(os.environ)))
            runs["first"].append(run_timed(rocm3d_command(folder, work=work), env))
            runs["second"].append(run_timed(rocm3d_command(folder, work=work), env))
            if runs["first"][-1].out != runs["second"][-1].out:
                sys.exit("the output of the cached scan differs")
    return figures(folder, names, runs)


def figures(folder: Path, names: list[str], runs: dict[str, list[TimedRun]]) -> dict[str, object]:
    """The row that is printed."""
    seconds = {kind: statistics.median(run.seconds for run in some) for kind, some in runs.items() if some}
    counts = json.loads(runs["first"][0].out)["inventory"]["counts"]
    result: dict[str, object] = {
        "folder": folder.name,
        "files": counts["files"],
        "python_and_cuda": counts["python"] + counts["cuda"],
        "rules": len(names),
        "findings": len(json.loads(runs["twenty"][0].out)["findings"]),
        "seconds": round(seconds["twenty"], 2),
        "all_rules_seconds": round(seconds["first"], 2),
        "cached_ratio": round(seconds["second"] / seconds["first"], 3),
        "peak_mib": max(run.mib for kind in ("twenty", "first", "second") for run in runs[kind]),
    }
    if runs["peer"]:
        result["semgrep_seconds"] = round(seconds["peer"], 2)
        result["semgrep_findings"] = len(json.loads(runs["peer"][0].out)["results"])
        result["times_faster"] = round(seconds["peer"] / seconds["twenty"], 1)
    return result


def main() -> None:
    """Print one row per folder, and the machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--semgrep", default=shutil.which("semgrep"))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, rocm3d {rocm3d.__version__}"
    )
    # pip does so when it installs a package; a checkout may have no bytecode yet.
    compileall.compile_dir(str(Path(rocm3d.__file__).parent), quiet=2)
    rows = [measure(folder.resolve(), options.semgrep, options.repeats) for folder in options.folders]
    print(json.dumps({"machine": machine, "semgrep": options.semgrep is not None, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
