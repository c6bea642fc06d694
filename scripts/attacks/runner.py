"""Runs the cases of attacks in a few processes, stores each result, and sums up."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from attacks.cases import Attack, BrokenPromiseError, Case, NotRunError, Result, run_case
from attacks.commands import support

MAX_SHOWN = 5
MAX_STORED_FOLDERS = 20


@dataclass
class Summary:
    """The counts of one attack."""

    attack: str
    promise: str
    requested: int = 0
    run: int = 0
    broken: int = 0
    not_run: int = 0
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list)  # why cases were not run


@dataclass(frozen=True)
class Settings:
    """How attacks run. `deadline` is a time of time.monotonic, after which no case starts."""

    folder: Path
    seed: int
    processes: int
    deadline: float
    resume: bool
    number: int | None = None  # only this case


def run_attack(attack: Attack, count: int, settings: Settings, show: Callable[[str], None]) -> Summary:
    """Run one attack. The results are in FOLDER/NAME.jsonl, the folders of broken cases in FOLDER/broken."""
    summary, started = Summary(attack.NAME, attack.PROMISE), time.monotonic()
    prepared = settings.folder / "prepared" / attack.NAME
    remove(prepared)
    prepared.mkdir(parents=True)
    try:
        shared = attack.prepare(prepared)
    except (BrokenPromiseError, NotRunError) as reason:
        summary.requested = count
        if isinstance(reason, NotRunError):
            summary.not_run, summary.reasons = count, [str(reason)]
        else:
            summary.broken, summary.run = 1, 1
            show(f"BROKEN {attack.NAME}: {reason}")
        return summary
    store = settings.folder / f"{attack.NAME}.jsonl"
    known = _stored(store) if settings.resume else []
    if not settings.resume:
        store.unlink(missing_ok=True)
        for folder in settings.folder.glob(f"broken/{attack.NAME}-*"):
            remove(folder)
    numbers = range(attack.total(shared, count)) if settings.number is None else [settings.number]
    summary.requested = len(numbers)
    done = {result.number for result in known}
    for result in known:
        _add(summary, result)
    with store.open("a", encoding="utf-8") as stream:
        for result in _results(attack, shared, [item for item in numbers if item not in done], settings):
            stream.write(json.dumps(asdict(result)) + "\n")
            stream.flush()
            _add(summary, result)
            if result.broken and summary.broken <= MAX_SHOWN:
                show(f"BROKEN {attack.NAME} {result.number}: {result.label}: {result.broken}")
            elif (summary.run + summary.not_run) % 50 == 0:
                show(f"{attack.NAME}: {summary.run + summary.not_run} of {len(numbers)}, {summary.broken} broken")
    summary.seconds = round(time.monotonic() - started, 1)
    return summary


def _add(summary: Summary, result: Result) -> None:
    if result.not_run:
        summary.not_run += 1
        summary.reasons = sorted({*summary.reasons, result.not_run})
    else:
        summary.run += 1
        summary.broken += bool(result.broken)


def _stored(store: Path) -> list[Result]:
    if not store.is_file():
        return []
    return [Result(**json.loads(line)) for line in store.read_text(encoding="utf-8").splitlines()]


def _results(attack: Attack, shared: Any, numbers: Iterable[int], settings: Settings) -> Iterator[Result]:
    """Results as they come. Workers are forked, so that they have the program and `shared` already."""
    work = settings.folder / "work" / attack.NAME
    remove(work)
    context = multiprocessing.get_context("fork")
    _task.update(attack=attack, shared=shared, settings=settings, work=work)
    waiting = iter(numbers)
    with ProcessPoolExecutor(settings.processes, mp_context=context) as pool:
        pending: set[Future[Result]] = set()
        while True:
            while len(pending) < 2 * settings.processes and time.monotonic() < settings.deadline:
                number = next(waiting, None)
                if number is None:
                    break
                pending.add(pool.submit(_run_number, number))
            if not pending:
                return
            ended, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ended)


_task: dict[str, Any] = {}


def _run_number(number: int) -> Result:
    settings: Settings = _task["settings"]
    attack, folder = _task["attack"], _task["work"] / str(number)
    case = Case(number, folder, f"{settings.seed}-{attack.NAME}-{number}")
    (folder / "world").mkdir(parents=True)
    result = run_case(attack, case, _task["shared"])
    _end_leftovers(case)
    if result.broken:
        _store_folder(folder, settings.folder / "broken" / f"{attack.NAME}-{number}")
    remove(folder)
    return result


def _end_leftovers(case: Case) -> None:
    """End what a killed command has left running, such as a git that waits for a pipe: it has the user of the case."""
    for pid in support("processes").running_with(f"HOME={case.commands.environment['HOME']}"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _store_folder(folder: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    remove(target)
    if len(list(target.parent.glob(f"{folder.parent.name}-*"))) < MAX_STORED_FOLDERS:
        with contextlib.suppress(OSError):
            folder.rename(target)


def remove(folder: Path) -> None:
    """Remove a folder, also one that is deeper than shutil can go."""
    subprocess.run(["/bin/rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.DEVNULL)


def table(summaries: list[Summary]) -> str:
    """The counts as a Markdown table."""
    lines = ["| attack | cases | broken | not run | seconds | promise |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {item.attack} | {item.run} of {item.requested} | {item.broken} | {item.not_run} | {item.seconds:.0f} "
        f"| {item.promise} |"
        for item in summaries
    ]
    return "\n".join(lines)
