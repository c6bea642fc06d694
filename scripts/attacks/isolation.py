"""Edits that NVIDIA users would see, and that the isolation proof has to refuse: the corpus in tests/syntax.

The corpus is data and its test runs a second checker over every case; this runs that test and counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from attacks.cases import ROOT, BrokenPromiseError, Case, NotRunError

NAME = "isolation"
COUNT = 60
PROMISE = "an edit that NVIDIA users would see gets no proof; a second checker agrees"

TESTS = "tests/syntax"
PATTERN = "test_isolation_cases*.py"
SECONDS = 1200


@dataclass(frozen=True)
class Outcome:
    """One test of the corpus."""

    name: str
    failure: str
    skipped: str


def prepare(folder: Path) -> list[Outcome]:
    """Run the tests of the corpus once."""
    files = sorted((ROOT / TESTS).glob(PATTERN))
    if not files:
        raise NotRunError(f"{TESTS}/{PATTERN} does not exist")
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", f"--junitxml={report}", *map(str, files)]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    if not report.is_file():
        raise NotRunError(f"pytest ended with {ended.returncode}: {ended.stdout[-500:]}")
    return [_outcome(item) for item in ElementTree.parse(report).iter("testcase")]  # noqa: S314  (written by pytest)


def total(shared: list[Outcome], count: int) -> int:
    """All of the corpus in a full run."""
    return len(shared) if count >= COUNT else min(count, len(shared))


def run(case: Case, shared: list[Outcome]) -> None:
    """Report one test."""
    outcome = shared[case.number]
    case.label = outcome.name
    if outcome.failure:
        raise BrokenPromiseError(outcome.failure)
    if outcome.skipped:
        raise NotRunError(outcome.skipped)


def _outcome(item: ElementTree.Element) -> Outcome:
    failures = [child.get("message") or child.tag for child in item if child.tag in ("failure", "error")]
    skipped = [child.get("message") or "skipped" for child in item if child.tag == "skipped"]
    return Outcome(item.get("name", ""), " ".join(failures)[:300], " ".join(skipped)[:300])
