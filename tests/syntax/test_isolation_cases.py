"""The cases of isolation_cases: what the proof says of each, and what nvcc, CMake and Python say.

A case is a tree `before`, the files `after` an edit, and case.toml: `why` it once fooled the proof or could have, what
the proof says (`expected`, `reason`), and `fooled` if the former proof held while the second checker disagrees.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocm3d.model.toml import parse
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.syntax.isolation_facts import read_facts
from rocm3d.workspace.tree import Tree
from tests.support.second_checker import (
    NOT_RUN,
    UNITS,
    behaviour_difference,
    bytecode_difference,
    cmake_difference,
    cpp_difference,
)

FOLDER = Path(__file__).with_name("isolation_cases")
ASSUMPTIONS = Path(__file__).resolve().parents[2] / "docs/isolation-proof.md"


@dataclass(frozen=True)
class IsolationCase:
    """One case. `torch = "real"` runs observe.py with the torch of .venv-torch; `lines` compares line numbers too."""

    name: str
    why: str
    expected: str
    reason: str = ""
    fooled: bool = False
    lines: bool = False
    flags: tuple[str, ...] = ()
    torch: str = "stub"

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def edits(self) -> dict[str, tuple[bytes, bytes]]:
        """Bytes before and after, by path."""
        after = self.folder / "after"
        paths = [path.relative_to(after) for path in sorted(after.rglob("*")) if path.is_file()]
        return {
            path.as_posix(): ((self.folder / "before" / path).read_bytes(), (after / path).read_bytes())
            for path in paths
        }


def read_case(folder: Path) -> IsolationCase:
    document = parse((folder / "case.toml").read_bytes())
    return IsolationCase(folder.name, **{**document, "flags": tuple(document.get("flags", ()))})


CASES = [read_case(folder) for folder in sorted(FOLDER.iterdir())]


@pytest.fixture(params=CASES, ids=[case.name for case in CASES])
def case(request) -> IsolationCase:
    return request.param


def difference(case: IsolationCase, scratch: Path) -> str:
    """What the second checker finds in the edit; empty if nothing, NOT_RUN if a program for it is missing."""
    before, after = scratch / "before", scratch / "after"
    for root in (before, after):
        shutil.copytree(case.folder / "before", root)
    shutil.copytree(case.folder / "after", after, dirs_exist_ok=True)
    results = [behaviour_difference(before, after, real_torch=case.torch == "real")]
    if any(path.suffix in UNITS for path in before.rglob("*")):
        results.append(cpp_difference(before, after, case.flags, with_lines=case.lines))
    listing = before / "CMakeLists.txt"
    if listing.exists() and ("message(" in listing.read_text() or (before / "kernels.cmake").exists()):
        results.append(cmake_difference(before, after))
    if case.expected == "proven":
        results += [bytecode_difference(*edit) for path, edit in case.edits.items() if path.endswith(".py")]
    differences = [result for result in results if result not in ("", NOT_RUN)]
    return differences[0] if differences else NOT_RUN if NOT_RUN in results else ""


def test_proof_says_what_the_case_expects(case):
    facts = read_facts(Tree.open(case.folder / "before"))
    for path, (before, after) in case.edits.items():
        proof = prove_isolation(path, before, after, facts)

        assert proof.holds == (case.expected == "proven"), proof.detail
        assert re.search(case.reason, proof.detail), proof.detail


def test_second_checker_agrees_with_what_is_proven_and_sees_what_once_fooled_the_proof(case, tmp_path):
    if case.expected != "proven" and not case.fooled:
        return  # the difference needs a program that is not here, or was refused before
    result = difference(case, tmp_path)
    if result == NOT_RUN:
        pytest.skip("not run: nvcc, cmake or the torch of .venv-torch is not installed")

    assert (result != "") == case.fooled, result


def test_there_are_enough_cases_of_both_kinds():
    assert len(CASES) >= 60
    assert sum(case.fooled for case in CASES) >= 60
    assert sum(case.expected == "proven" for case in CASES) >= 15
    assert all(case.why and (case.expected == "proven" or case.reason) for case in CASES)


def test_every_assumption_is_documented_and_has_a_case():
    documented = set(re.findall(r"^\*\*([CPMT]\d+)\*\*", ASSUMPTIONS.read_text(encoding="utf-8"), re.MULTILINE))
    refused = {match for case in CASES for match in re.findall(r"[CPMT]\d+", case.reason)}

    assert documented - refused == {"C2", "C4"}  # C2 is reported as C1; a directive in parentheses has its own message
    assert refused <= documented
