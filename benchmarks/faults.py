"""Measures which faults the tests catch: one-line faults in src/, each with the tests that run its line.

    faults.py choose CHECKOUT FAULTS
    faults.py map CHECKOUT FAULTS MAP                 (runs the suite once, with the lines of the faults instrumented)
    faults.py run CHECKOUT MAP FAULTS RESULTS         (resumes after an interruption)
    faults.py compare RESULTS_BEFORE RESULTS_AFTER    (exit code 1 if fewer faults are caught)

Tests run in copies of the checkout in --scratch; the checkout itself is only read.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from fault_copy import Copy
from fault_map import SOURCE, LineMap, build_map, lines_to_watch
from fault_operators import Edit, Fault, compiles_differently, described, edits_of, located

SEED = 20261116
COUNT = 200
CAUGHT, NOT_CAUGHT, NO_TEST, GONE = "caught", "not caught", "no test runs this line", "gone"
# A failing test must pass without the fault. One that does not is excluded, at most this many times per fault.
ATTEMPTS = 4


@dataclass(frozen=True)
class Result:
    """The verdict on a fault. `test` caught it; `tests` counts selected tests, `capped` if there were more."""

    fault: str
    verdict: str
    test: str | None = None
    detail: str = ""
    tests: int = 0
    capped: bool = False
    seconds: float = 0.0


def choose(checkout: Path, count: int, seed: int) -> list[Fault]:
    """Random lines, uniformly, whether or not a test runs them; one fault per line."""
    by_line: dict[tuple[str, int], list[Edit]] = defaultdict(list)
    sources = {path.relative_to(checkout).as_posix(): path.read_bytes() for path in (checkout / SOURCE).rglob("*.py")}
    if not sources:
        raise SystemExit(f"{checkout} has no {SOURCE}. Pass the root of a checkout.")
    for path in sorted(sources):
        for edit in edits_of(sources[path]):
            by_line[path, edit.line].append(edit)
    chance = random.Random(seed)  # noqa: S311
    lines = list(by_line)
    chance.shuffle(lines)
    chosen: list[Fault] = []
    for path, line in lines:
        operator = chance.choice(sorted({edit.operator for edit in by_line[path, line]}))
        edit = chance.choice([edit for edit in by_line[path, line] if edit.operator == operator])
        if len(chosen) < count and compiles_differently(sources[path], edit):
            chosen.append(described(path, sources[path], edit))
    return chosen


def map_lines(checkout: Path, faults: Sequence[Fault], scratch: Path, processes: int, marks: str | None) -> LineMap:
    """Run the suite once; `marks` replaces the marks that the project selects."""
    copy = Copy(checkout, scratch / "map")
    copy.make()
    hits, times = copy.folder / "hits", copy.folder / "times.json"
    count = itertools.count()
    lines = {
        path: {line: next(count) for line in sorted(lines)} for path, lines in lines_to_watch(checkout, faults).items()
    }
    copy.watch(lines, hits)
    options = ["-n", str(processes), "-o", "timeout=600", f"--fault-times={times}", "-q", "--tb=short"]
    code = copy.pytest([*options, *(["-m", marks] if marks else [])])
    if not times.is_file():
        raise SystemExit(f"pytest stopped early with exit code {code}. Read {copy.folder / 'pytest.log'}.")
    # Tests that read our sources fail, because those are instrumented; their lines are recorded nevertheless.
    return build_map(checkout, lines, hits, json.loads(times.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Search:
    """Searches for a test that fails because of a fault, in one copy of the checkout."""

    copy: Copy
    lines: LineMap
    hints: dict[str, str]

    def judge(self, fault: Fault) -> Result:
        """Try one fault."""
        start = time.monotonic()
        place = self.copy.root / fault.path
        edit = located(fault, place.read_bytes()) if place.is_file() else None
        if edit is None:
            return Result(fault.key, GONE)
        selection = self.lines.selection(fault.path, edit)
        hint = [test for test in (self.hints.get(fault.key),) if test in self.lines.seconds]
        first, rest = self.lines.stages(test for test in selection.tests if test not in hint)
        test, detail = None, ""
        for stage in (hint, first, rest):
            test, detail = self._failing(fault.path, edit, stage)
            if detail:
                break
        missed = NOT_CAUGHT if selection.runs_line else NO_TEST
        verdict, seconds = CAUGHT if detail else missed, round(time.monotonic() - start, 1)
        return Result(fault.key, verdict, test, detail, len(selection.tests), selection.capped, seconds)

    def _failing(self, path: str, edit: Edit, tests: Sequence[str]) -> tuple[str | None, str]:
        """The first test that fails only with the fault, and how it failed; (None, "") if there is none."""
        unreliable: set[str] = set()
        for _ in range(ATTEMPTS):
            remaining = [test for test in tests if test not in unreliable]
            if not remaining:
                break
            with self.copy.faulty(path, edit):
                failure = self.copy.run_tests(remaining, self._seconds(remaining))
            if failure is None:
                break
            if failure.is_hang:
                return None, "hang"
            named = failure.test or ""
            # If a module cannot be imported or pytest cannot start, the first test of it is the suspect.
            suspect = next((test for test in remaining if test == named or test.startswith(f"{named}::")), remaining[0])
            if self.copy.run_tests([suspect], self.lines.seconds[suspect]) is None:
                return suspect, "test" if suspect == named else "collection"
            unreliable.add(suspect)
            self.copy.make()
        return None, ""

    def _seconds(self, tests: Iterable[str]) -> float:
        return sum(self.lines.seconds[test] for test in tests)


def read_faults(place: Path) -> list[Fault]:
    """Read the output of `faults.py choose`."""
    if not place.is_file():
        raise SystemExit(f"{place} does not exist. Create it: faults.py choose CHECKOUT {place}")
    return [Fault(**fault) for fault in json.loads(place.read_text(encoding="utf-8"))]


def read_results(place: Path) -> dict[str, Result]:
    """Results by fault; an incomplete last line is ignored."""
    if not place.is_file():
        raise SystemExit(f"{place} does not exist. Create it: faults.py run CHECKOUT MAP FAULTS {place}")
    lines = place.read_text(encoding="utf-8").splitlines(keepends=True)
    results = [Result(**json.loads(line)) for line in lines if line.endswith("\n")]
    return {result.fault: result for result in results}


def resume(place: Path, faults: Sequence[Fault]) -> list[Fault]:
    """The faults without a result; repairs an incomplete last line of the file."""
    place.touch()
    done = read_results(place)
    place.write_text("".join(f"{json.dumps(asdict(result))}\n" for result in done.values()), encoding="utf-8")
    return [fault for fault in faults if fault.key not in done]


def run(searches: Sequence[Search], faults: Sequence[Fault], place: Path) -> None:
    """Evaluate all faults, one per copy at a time."""
    idle: SimpleQueue[Search] = SimpleQueue()
    for search in searches:
        idle.put(search)

    def judge(fault: Fault) -> Result:
        search = idle.get()
        try:
            return search.judge(fault)
        finally:
            idle.put(search)

    start, counts = time.monotonic(), Counter[str]()
    with ThreadPoolExecutor(len(searches)) as pool, place.open("a", encoding="utf-8") as stream:
        for future in as_completed([pool.submit(judge, fault) for fault in faults]):
            result = future.result()
            stream.write(f"{json.dumps(asdict(result))}\n")
            stream.flush()
            counts[result.verdict] += 1
            done = counts.total()
            left = (time.monotonic() - start) / done * (len(faults) - done) / 60
            print(f"{done}/{len(faults)}: {summary(counts)}; {left:.0f} min left. {result.verdict}: {result.fault}")


def summary(counts: Counter[str]) -> str:
    """Counts by verdict, as text."""
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in (CAUGHT, NOT_CAUGHT, NO_TEST, GONE))


def compare(before: dict[str, Result], after: dict[str, Result]) -> tuple[list[str], bool]:
    """Lines to print, and whether nothing was lost."""
    report = [
        f"{name}: {summary(Counter(result.verdict for result in results.values()))}"
        for name, results in (("before", before), ("after", after))
    ]
    caught = [fault for fault, result in before.items() if result.verdict == CAUGHT]
    gone = [fault for fault in caught if fault in after and after[fault].verdict == GONE]
    missing = [fault for fault in before if fault not in after]
    lost = [fault for fault in caught if fault in after and after[fault].verdict not in (CAUGHT, GONE)]
    for title, found in (("Line is gone", gone), ("Not run after", missing), ("Caught only before", lost)):
        report += [f"{title}: {fault}" for fault in found]
    return report, not (missing or lost)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand."""
    options = _parser().parse_args(arguments)
    # A background job of a shell ignores SIGINT, and so would the programs of tests that send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.command == "compare":
        report, is_kept = compare(read_results(options.before), read_results(options.after))
        print("\n".join(report))
        return 0 if is_kept else 1
    checkout = options.checkout.resolve()
    if options.command == "choose":
        chosen = [asdict(fault) for fault in choose(checkout, options.count, options.seed)]
        options.faults.write_text(json.dumps(chosen, indent=1), encoding="utf-8")
    elif options.command == "map":
        faults = read_faults(options.faults)
        made = map_lines(checkout, faults, options.scratch.resolve(), options.processes, options.marks)
        made.write(options.map)
    else:
        lines, faults = LineMap.read(checkout, options.map), resume(options.results, read_faults(options.faults))
        hints = read_results(options.first_try).values() if options.first_try else ()
        tests = {result.fault: result.test for result in hints if result.test}
        copies = [Copy(checkout, options.scratch.resolve() / str(number)) for number in range(options.workers)]
        for copy in copies if faults else ():
            copy.make()
        run([Search(copy, lines, tests) for copy in copies], faults, options.results)
        print(summary(Counter(result.verdict for result in read_results(options.results).values())))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    scratch = argparse.ArgumentParser(add_help=False)
    scratch.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir(), "faults"), help="for copies")
    for name, places in (("choose", ("faults",)), ("map", ("faults", "map")), ("run", ("map", "faults", "results"))):
        command = commands.add_parser(name, parents=[] if name == "choose" else [scratch])
        for place in ("checkout", *places):
            command.add_argument(place, type=Path)
    commands.choices["choose"].add_argument("--count", type=int, default=COUNT)
    commands.choices["choose"].add_argument("--seed", type=int, default=SEED)
    commands.choices["map"].add_argument("--processes", type=int, default=2)
    commands.choices["map"].add_argument("--marks", help="marks of the tests to map, as for pytest -m")
    commands.choices["run"].add_argument("--workers", type=int, default=2)
    commands.choices["run"].add_argument("--first-try", type=Path, help="results whose tests are tried first")
    command = commands.add_parser("compare")
    command.add_argument("before", type=Path)
    command.add_argument("after", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
