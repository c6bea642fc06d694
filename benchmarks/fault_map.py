"""Which tests run a line, and which of them to run for a fault on it."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from fault_operators import FUNCTIONS, Fault, SourceEdit, find_edit

SOURCE = Path("src", "rocm3d")
# Limits for tests of a line outside its own test files, and for tests of a whole module; the fastest are used.
MAX_OTHER_TESTS = 300
MAX_MODULE_TESTS = 50
# The first tests catch most faults. They run alone, so that not all test modules are imported.
MAX_FIRST_TESTS = 30
MAX_FIRST_SECONDS = 15.0


@dataclass(frozen=True)
class SelectedTests:
    """Tests for a fault, the most promising first. `capped`: there are more; `runs_line`: a test runs its line."""

    tests: tuple[str, ...]
    capped: bool
    runs_line: bool


@dataclass(frozen=True)
class LineMap:
    """Seconds by test, the fastest first; for each path and line, the indices of its tests in that list.

    A line that runs only outside tests, at import, has an empty list.
    """

    checkout: Path
    seconds: dict[str, float]
    lines: Mapping[str, Mapping[str, list[int]]]

    @classmethod
    def read(cls, checkout: Path, path: Path) -> LineMap:
        """Read the map that `faults.py map` wrote for this checkout."""
        if not path.is_file():
            raise SystemExit(f"{path} does not exist. Create it: faults.py map {checkout} {path}")
        stored = json.loads(path.read_text(encoding="utf-8"))
        if not stored["seconds"] or not stored["lines"]:
            raise SystemExit(f"{path} maps no line to a test. Create it again: faults.py map {checkout} {path}")
        return cls(checkout, stored["seconds"], stored["lines"])

    def write(self, path: Path) -> None:
        """Store the map for `read`."""
        path.write_text(json.dumps({"seconds": self.seconds, "lines": self.lines}), encoding="utf-8")

    @cached_property
    def names(self) -> list[str]:
        """Node ids, the fastest test first."""
        return list(self.seconds)

    @cached_property
    def tests_by_module(self) -> dict[str, list[int]]:
        """Tests by the module that their file tests: test_<module>.py and test_<module>_<aspect>.py."""
        files = {name.partition("::")[0] for name in self.names}
        modules = {file: _tested_module(self.checkout, file) for file in files}
        tests = defaultdict(list)
        for number, name in enumerate(self.names):
            tests[modules[name.partition("::")[0]]].append(number)
        return tests

    def select_tests(self, path: str, edit: SourceEdit) -> SelectedTests:
        """The tests of its module that run the line, other tests that run it, then the other tests of its module.

        The last are for lines in programs that cannot import fault_hits.
        """
        lines = self.lines.get(path, {})
        by_line = lines.get(str(edit.line)) or lines.get(str(edit.context.statement))
        runs_line = by_line is not None or str(edit.line) in lines
        if runs_line and (edit.context.at_import or not by_line):
            by_line = sorted({*self._tests_using_names(path, edit.context.names), *self._cheapest_of(path)})
        by_line, mirror = by_line or [], dict.fromkeys(self.tests_by_module[path])
        module_tests = [number for number in by_line if number in mirror]
        other_tests = [number for number in by_line if number not in mirror]
        chosen = dict.fromkeys([*module_tests, *other_tests[:MAX_OTHER_TESTS], *mirror])
        return SelectedTests(
            tuple(self.names[number] for number in chosen), len(other_tests) > MAX_OTHER_TESTS, runs_line
        )

    def _cheapest_of(self, path: str) -> Iterable[int]:
        return islice(sorted({number for tests in self.lines[path].values() for number in tests}), MAX_MODULE_TESTS)

    def _tests_using_names(self, path: str, names: tuple[str, ...]) -> Iterator[int]:
        for other, line in lines_using(self.checkout, path, names):
            yield from self.lines.get(other, {}).get(str(line), ())

    def split_stages(self, tests: Iterable[str]) -> tuple[list[str], list[str]]:
        """Split into the tests of the first run and the rest."""
        first, rest, seconds = [], [], 0.0
        for test in tests:
            seconds += self.seconds[test]
            is_first = not rest and (not first or (len(first) < MAX_FIRST_TESTS and seconds < MAX_FIRST_SECONDS))
            (first if is_first else rest).append(test)
        return first, rest


def lines_to_watch(checkout: Path, faults: Iterable[Fault]) -> dict[str, set[int]]:
    """The lines of the faults. For code that runs at import, also the lines that use the names that it binds."""
    lines: dict[str, set[int]] = defaultdict(set)
    for fault in faults:
        edit = find_edit(fault, (checkout / fault.path).read_bytes())
        if edit is not None:
            lines[fault.path] |= {edit.line, edit.context.statement}
            for path, line in lines_using(checkout, fault.path, edit.context.names) if edit.context.at_import else ():
                lines[path].add(line)
    return lines


def lines_using(checkout: Path, path: str, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Lines in functions that use these names of a module, in it or in importing modules.

    A line that runs at import is recorded once, for the test that imports the module first; these lines represent it.
    """
    module = _module_name(path)
    for file in sorted((checkout / SOURCE).rglob("*.py")):
        other, text = file.relative_to(checkout).as_posix(), file.read_text(encoding="utf-8")
        if names and (other == path or (module in text and any(name in text for name in names))):
            yield from ((other, line) for line in _function_lines_using(text, names))


def build_map(
    checkout: Path, numbers: Mapping[str, Mapping[int, int]], hits: Path, seconds: Mapping[str, float]
) -> LineMap:
    """Build the map from the records of each process in `hits`; `numbers` are those of instrumented lines by path."""
    ranked = dict(sorted(seconds.items(), key=lambda item: (round(item[1], 3), item[0])))
    ranks = {name: rank for rank, name in enumerate(ranked)}
    tests: dict[int, set[int]] = defaultdict(set)
    for hit_file in hits.iterdir():
        for line in hit_file.read_text(encoding="utf-8").splitlines():
            number, _, test = line.partition("\t")
            # Lines outside tests, and tests without a report, belong to no test.
            tests[int(number)] |= {ranks[test]} if test in ranks else set()
    lines = {
        path: {str(line): sorted(tests[number]) for line, number in by_line.items() if number in tests}
        for path, by_line in numbers.items()
    }
    return LineMap(checkout, {name: round(value, 3) for name, value in ranked.items()}, lines)


def _tested_module(checkout: Path, test_file: str) -> str:
    """The module that a test file tests; empty if there is none."""
    folder = SOURCE / Path(test_file).relative_to("tests").parent
    parts = Path(test_file).stem.removeprefix("test_").split("_")
    for size in range(len(parts), 0, -1):
        stem = "_".join(parts[:size])
        for module in (folder / f"{stem}.py", folder / stem / "__init__.py"):
            if (checkout / module).is_file():
                return module.as_posix()
    return ""


def _module_name(path: str) -> str:
    return ".".join(Path(path).relative_to("src").with_suffix("").parts).removesuffix(".__init__")


def _function_lines_using(text: str, names: tuple[str, ...]) -> Iterator[int]:
    """Lines inside functions that mention one of these names."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, FUNCTIONS):
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, (ast.Name, ast.Attribute)) and _referenced_name(node) in names:
                        yield node.lineno


def _referenced_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
