"""Overhead per job: `rocm3d jobs run` compared with GNU parallel and submitit's local executor, in turns.

    python benchmarks/jobs.py [--jobs 1000] [--slots 4] [--repeats 5]

Every job is `true`, so all the time is overhead. Each call is timed from start to end, ours with its own start-up, and
divided by the number of jobs. GNU parallel runs without a log, which is its fastest mode; submitit gets 20 jobs per
slot, because each of its jobs starts a Python. No result is printed unless every job of ours is done. Needs parallel
and submitit; a missing one is skipped and listed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SUBMITIT = """
import sys, submitit
from submitit.helpers import CommandFunction
executor = submitit.LocalExecutor(folder=sys.argv[1])
places, number = int(sys.argv[2]), int(sys.argv[3])
running = []
for _ in range(number):
    if len(running) == places:
        running.pop(0).result()
    running.append(executor.submit(CommandFunction(["true"], verbose=False)))
for job in running:
    job.result()
"""


def run_seconds(command: list[str], folder: Path) -> float:
    """Seconds of one call. Installed packages have bytecode, so ours may write it."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def time_rocm3d(number: int, slots: int) -> float:
    """Seconds per job; every job must be done and have its status file."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        names = json.dumps([f"j{item}" for item in range(number)])
        text = f'[run]\nslots = {slots}\ngpus = []\n[[job]]\nid = "{{}}"\neach = {names}\ncommand = ["true"]\n'
        (folder / "jobs.toml").write_text(text, encoding="utf-8")
        program = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "jobs", "run", "jobs.toml"]
        took = run_seconds(program, folder)
        done = [path for path in (folder / ".rocm3d/jobs/jobs/status").iterdir() if '"done"' in path.read_text()]
        if len(done) != number:
            sys.exit(f"{number - len(done)} of {number} jobs are not done")
    return took / number


def time_parallel(number: int, slots: int) -> float:
    """Seconds per job of GNU parallel, with no option but the number of slots."""
    with tempfile.TemporaryDirectory() as scratch:
        words = ["parallel", "--will-cite", f"-j{slots}", "true", ":::", *map(str, range(number))]
        return run_seconds(words, Path(scratch)) / number


def time_submitit(number: int, slots: int) -> float:
    """Seconds per job of submitit's local executor with the same number of slots."""
    few = min(number, 20 * slots)
    with tempfile.TemporaryDirectory() as scratch:
        return run_seconds([sys.executable, "-c", SUBMITIT, scratch, str(slots), str(few)], Path(scratch)) / few


def main() -> None:
    """Print milliseconds per job, the ratio to the better of the other two, and the machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    runners: dict[str, Callable[[int, int], float]] = {"rocm3d": time_rocm3d}
    if shutil.which("parallel"):
        runners["parallel"] = time_parallel
    if importlib.util.find_spec("submitit"):
        runners["submitit"] = time_submitit
    seconds_per_job: dict[str, list[float]] = {name: [] for name in runners}
    for repeat in range(options.repeats):
        for name, runner in runners.items():
            # One round of submitit is enough: it is slower by two orders of magnitude.
            if name != "submitit" or not repeat:
                seconds_per_job[name].append(runner(options.jobs, options.slots))
    medians = {name: statistics.median(times) for name, times in seconds_per_job.items()}
    others = [value for name, value in medians.items() if name != "rocm3d"]
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "jobs": options.jobs,
        "slots": options.slots,
        "milliseconds_a_job": {name: round(value * 1000, 2) for name, value in medians.items()},
        "missing": sorted({"parallel", "submitit"} - runners.keys()),
        "ratio_to_the_better": round(medians["rocm3d"] / min(others), 3) if others else None,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
