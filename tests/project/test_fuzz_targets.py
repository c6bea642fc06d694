"""Targets of `make fuzz`: one for every reader, with seeds that do not crash. The fuzzer itself is not needed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.append(str(SCRIPTS))  # the targets import each other


@pytest.fixture(scope="module")
def fuzzed():
    spec = importlib.util.spec_from_file_location("fuzz_targets", SCRIPTS / "fuzz_targets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reader_without_file_name_is_rejected(fuzzed, monkeypatch):
    monkeypatch.setattr(fuzzed, "FILE_NAMES", ("a.py",))

    with pytest.raises(LookupError, match="cmake"):
        fuzzed.targets()


def test_every_target_accepts_its_seeds(fuzzed):
    for name, target in fuzzed.targets().items():
        for seed in fuzzed.seeds(name)[:4]:
            target(seed)


def test_seeds_are_more_than_an_empty_line(fuzzed):
    assert [] == [name for name in fuzzed.targets() if fuzzed.seeds(name) == [b"\n"]]


def test_exception_of_a_reader_is_raised(fuzzed, monkeypatch):
    monkeypatch.setattr(fuzzed, "scan_file", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        fuzzed.targets()["a.py"](b"")


def test_single_input_runs_without_fuzzer(tmp_path):
    (tmp_path / "input").write_bytes(b"channels:\n  -\n")
    command = [sys.executable, SCRIPTS / "fuzz.py", "environment.yml", "--input", tmp_path / "input"]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (0, "") == (ended.returncode, ended.stderr)
