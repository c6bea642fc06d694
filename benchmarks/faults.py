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

from fault_copy import CheckoutCopy
from fault_map import SOURCE, LineMap, build_map, lines_to_watch
from fault_operators import Fault, SourceEdit, compiles_differently, fault_of_edit, find_edit, possible_edits

SEED = 20261116
COUNT = 200
CAUGHT, NOT_CAUGHT, NO_TEST, LINE_GONE = "caught", "not caught", "no test runs this line", "gone"
# A failing test must pass without the fault. One that does not is excluded, at most this many times per fault.
ATTEMPTS = 4


@dataclass(frozen=True)
class FaultResult:
    """The verdict on a fault. `test` caught it; `tests` counts selected tests, `capped` if there were more."""

    fault: str
    verdict: str
    test: str | None = None
    detail: str = ""
    tests: int = 0
    capped: bool = False
    seconds: float = 0.0


def choose_faults(checkout: Path, count: int, seed: int) -> list[Fault]:
    """Random lines, uniformly, whether or not a test runs them; one fault per line."""
    by_line: dict[tuple[str, int], list[SourceEdit]] = defaultdict(list)
    sources = {path.relative_to(checkout).as_posix(): path.read_bytes() for path in (checkout / SOURCE).rglob("*.py")}
    if not sources:
        raise SystemExit(f"{checkout} has no {SOURCE}. Pass the root of a checkout.")
    for path in sorted(sources):
        for edit in possible_edits(sources[path]):
            by_line[path, edit.line].append(edit)
    chance = random.Random(seed)  # noqa: S311
    lines = list(by_line)
    chance.shuffle(lines)
    chosen: list[Fault] = []
    for path, line in lines:
        operator = chance.choice(sorted({edit.operator for edit in by_line[path, line]}))
        edit = chance.choice([edit for edit in by_line[path, line] if edit.operator == operator])
        if len(chosen) < count and compiles_differently(sources[path], edit):
            chosen.append(fault_of_edit(path, sources[path], edit))
    return chosen


def map_lines(checkout: Path, faults: Sequence[Fault], scratch: Path, processes: int, marks: str | None) -> LineMap:
    """Run the suite once; `marks` replaces the marks that the project selects."""
    copy = CheckoutCopy(checkout, scratch / "map")
    copy.make()
    hits, times = copy.folder / "hits", copy.folder / "times.json"
    count = itertools.count()
    lines = {
        path: {line: next(count) for line in sorted(lines)} for path, lines in lines_to_watch(checkout, faults).items()
    }
    copy.instrument(lines, hits)
    options = ["-n", str(processes), "-o", "timeout=600", f"--fault-times={times}", "-q", "--tb=short"]
    code = copy.run_pytest([*options, *(["-m", marks] if marks else [])])
    if not times.is_file():
        raise SystemExit(f"pytest stopped early with exit code {code}. Read {copy.folder / 'pytest.log'}.")
    # Tests that read our sources fail, because those are instrumented; their lines are recorded nevertheless.
    return build_map(checkout, lines, hits, json.loads(times.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class FaultSearch:
    """Searches for a test that fails because of a fault, in one copy of the checkout."""

    copy: CheckoutCopy
    lines: LineMap
    hints: dict[str, str]

    def evaluate(self, fault: Fault) -> FaultResult:
        start = time.monotonic()
        file = self.copy.root / fault.path
        edit = find_edit(fault, file.read_bytes()) if file.is_file() else None
        if edit is None:
            return FaultResult(fault.key, LINE_GONE)
        selection = self.lines.select_tests(fault.path, edit)
        hint = [test for test in (self.hints.get(fault.key),) if test in self.lines.seconds]
        first, rest = self.lines.split_stages(test for test in selection.tests if test not in hint)
        test, detail = None, ""
        for stage in (hint, first, rest):
            test, detail = self._first_reliable_failure(fault.path, edit, stage)
            if detail:
                break
        missed = NOT_CAUGHT if selection.runs_line else NO_TEST
        verdict, seconds = CAUGHT if detail else missed, round(time.monotonic() - start, 1)
        return FaultResult(fault.key, verdict, test, detail, len(selection.tests), selection.capped, seconds)

    def _first_reliable_failure(self, path: str, edit: SourceEdit, tests: Sequence[str]) -> tuple[str | None, str]:
        """The first test that fails only with the fault, and how it failed; (None, "") if there is none."""
        unreliable: set[str] = set()
        for _ in range(ATTEMPTS):
            remaining = [test for test in tests if test not in unreliable]
            if not remaining:
                break
            with self.copy.apply_fault(path, edit):
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


def read_faults(path: Path) -> list[Fault]:
    """Read the output of `faults.py choose`."""
    if not path.is_file():
        raise SystemExit(f"{path} does not exist. Create it: faults.py choose CHECKOUT {path}")
    return [Fault(**fault) for fault in json.loads(path.read_text(encoding="utf-8"))]


def read_results(path: Path) -> dict[str, FaultResult]:
    """Results by fault; an incomplete last line is ignored."""
    if not path.is_file():
        raise SystemExit(f"{path} does not exist. Create it: faults.py run CHECKOUT MAP FAULTS {path}")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    results = [FaultResult(**json.loads(line)) for line in lines if line.endswith("\n")]
    return {result.fault: result for result in results}


def remaining_faults(path: Path, faults: Sequence[Fault]) -> list[Fault]:
    """The faults without a result; repairs an incomplete last line of the file."""
    path.touch()
    done = read_results(path)
    path.write_text("".join(f"{json.dumps(asdict(result))}\n" for result in done.values()), encoding="utf-8")
    return [fault for fault in faults if fault.key not in done]


def evaluate_all(searches: Sequence[FaultSearch], faults: Sequence[Fault], results_file: Path) -> None:
    """Evaluate all faults, one per copy at a time."""
    idle: SimpleQueue[FaultSearch] = SimpleQueue()
    for search in searches:
        idle.put(search)

    def evaluate(fault: Fault) -> FaultResult:
        search = idle.get()
        try:
            return search.evaluate(fault)
        finally:
            idle.put(search)

    start, counts = time.monotonic(), Counter[str]()
    with ThreadPoolExecutor(len(searches)) as pool, results_file.open("a", encoding="utf-8") as stream:
        for future in as_completed([pool.submit(evaluate, fault) for fault in faults]):
            result = future.result()
            stream.write(f"{json.dumps(asdict(result))}\n")
            stream.flush()
            counts[result.verdict] += 1
            done = counts.total()
            left = (time.monotonic() - start) / done * (len(faults) - done) / 60
            print(f"{done}/{len(faults)}: {summary(counts)}; {left:.0f} min left. {result.verdict}: {result.fault}")


def summary(counts: Counter[str]) -> str:
    """Counts by verdict, as text."""
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in (CAUGHT, NOT_CAUGHT, NO_TEST, LINE_GONE))


def compare_results(before: dict[str, FaultResult], after: dict[str, FaultResult]) -> tuple[list[str], bool]:
    """Lines to print, and whether nothing was lost."""
    report = [
        f"{name}: {summary(Counter(result.verdict for result in results.values()))}"
        for name, results in (("before", before), ("after", after))
    ]
    caught = [fault for fault, result in before.items() if result.verdict == CAUGHT]
    gone = [fault for fault in caught if fault in after and after[fault].verdict == LINE_GONE]
    missing = [fault for fault in before if fault not in after]
    lost = [fault for fault in caught if fault in after and after[fault].verdict not in (CAUGHT, LINE_GONE)]
    for title, listed in (("Line is gone", gone), ("Not run after", missing), ("Caught only before", lost)):
        report += [f"{title}: {fault}" for fault in listed]
    return report, not (missing or lost)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand."""
    options = _parser().parse_args(arguments)
    # A background job of a shell ignores SIGINT, and so would the programs of tests that send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.command == "compare":
        report, nothing_lost = compare_results(read_results(options.before), read_results(options.after))
        print("\n".join(report))
        return 0 if nothing_lost else 1
    checkout = options.checkout.resolve()
    if options.command == "choose":
        chosen = [asdict(fault) for fault in choose_faults(checkout, options.count, options.seed)]
        options.faults.write_text(json.dumps(chosen, indent=1), encoding="utf-8")
    elif options.command == "map":
        faults = read_faults(options.faults)
        line_map = map_lines(checkout, faults, options.scratch.resolve(), options.processes, options.marks)
        line_map.write(options.map)
    else:
        lines, faults = (
            LineMap.read(checkout, options.map),
            remaining_faults(options.results, read_faults(options.faults)),
        )
        hints = read_results(options.first_try).values() if options.first_try else ()
        tests = {result.fault: result.test for result in hints if result.test}
        copies = [CheckoutCopy(checkout, options.scratch.resolve() / str(number)) for number in range(options.workers)]
        for copy in copies if faults else ():
            copy.make()
        evaluate_all([FaultSearch(copy, lines, tests) for copy in copies], faults, options.results)
        print(summary(Counter(result.verdict for result in read_results(options.results).values())))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    scratch = argparse.ArgumentParser(add_help=False)
    scratch.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir(), "faults"), help="for copies")
    for name, path_arguments in (
        ("choose", ("faults",)),
        ("map", ("faults", "map")),
        ("run", ("map", "faults", "results")),
    ):
        command = commands.add_parser(name, parents=[] if name == "choose" else [scratch])
        for argument in ("checkout", *path_arguments):
            command.add_argument(argument, type=Path)
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
