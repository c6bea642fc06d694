"""A cached scan equals the scan itself, or there is no entry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rocm3d.knowledge.load import load
from rocm3d.model.failure import UserError
from rocm3d.recall import recall
from rocm3d.repository import Opened
from rocm3d.scan.selection import Selection
from rocm3d.workspace.state import PORT_FOLDER


@pytest.fixture
def scanned(example):
    """An example that was scanned with the cache on, and its document."""
    root = example("splat-trainer")

    def scan(**given):
        return Opened(root, load(), selection=Selection(**given), cached=True).scan()

    return root, scan


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        recall(tmp_path / "nowhere", None, (), ())


def test_without_an_earlier_scan_there_is_nothing(example):
    assert recall(example("splat-trainer"), None, (), ()) is None


def test_other_rules_are_another_scan(scanned):
    root, scan = scanned
    scan(only=("CU",))

    assert recall(root, None, (), ()) is None
    assert recall(root, None, ("CU301",), ()) is None
    assert recall(root, None, ("CU",), ()) is not None


@pytest.mark.parametrize("name", ["rocm3d.toml", "pyproject.toml"])
def test_a_target_with_settings_is_scanned(scanned, name):
    root, scan = scanned
    (root / name).write_text('[tool.rocm3d]\nskip = ["CU"]\n' if name == "pyproject.toml" else 'skip = ["CU"]\n')
    scan()

    assert recall(root, None, (), ()) is None


def test_a_folder_that_may_be_a_ports_is_looked_into(scanned):
    root, scan = scanned
    (root / PORT_FOLDER).mkdir()
    scan()

    assert recall(root, None, (), ()) is None


def test_it_says_and_writes_what_the_scan_did(scanned, tmp_path):
    root, scan = scanned
    document = scan()
    written = root / ".rocm3d" / "inventory.json"
    written.unlink()

    kept = recall(root, None, (), ())

    assert kept.text == document.to_json() == written.read_text(encoding="utf-8")
    assert kept.serious
    assert recall(root, tmp_path / "work", (), ()).text == (tmp_path / "work" / "inventory.json").read_text()


def test_notes_alone_are_not_serious(scanned):
    root, scan = scanned
    scan(only=("CU311",))

    assert not recall(root, None, ("CU311",), ()).serious


def test_neither_rules_nor_models_are_loaded(scanned):
    root, scan = scanned
    scan()
    code = (
        "import sys; from pathlib import Path; from rocm3d.recall import recall\n"
        f"assert recall(Path({str(root)!r}), None, (), ()) is not None\n"
        "print([name for name in ('pydantic', 'tree_sitter', 'typer', 'rocm3d.scan.file') if name in sys.modules])"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == ("[]\n", "")
