"""A cached scan equals the scan itself, or there is no entry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rocm3d.knowledge.load import load
from rocm3d.model.errors import UserError
from rocm3d.repository import Repository
from rocm3d.scan.scan_cache import cached_scan
from rocm3d.scan.selection import Selection
from rocm3d.workspace.state import PORT_FOLDER


@pytest.fixture
def scanned(example):
    """An example that was scanned with the cache on, and its document."""
    root = example("splat-trainer")

    def scan(**arguments):
        return Repository(root, load(), selection=Selection(**arguments), cached=True).scan()

    return root, scan


def test_missing_folder_is_refused(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        cached_scan(tmp_path / "nowhere", None, (), ())


def test_no_entry_without_an_earlier_scan(example):
    assert cached_scan(example("splat-trainer"), None, (), ()) is None


def test_other_rules_are_another_scan(scanned):
    root, scan = scanned
    scan(only=("CU",))

    assert cached_scan(root, None, (), ()) is None
    assert cached_scan(root, None, ("CU301",), ()) is None
    assert cached_scan(root, None, ("CU",), ()) is not None


@pytest.mark.parametrize("name", ["rocm3d.toml", "pyproject.toml"])
def test_a_target_with_settings_is_scanned(scanned, name):
    root, scan = scanned
    (root / name).write_text('[tool.rocm3d]\nskip = ["CU"]\n' if name == "pyproject.toml" else 'skip = ["CU"]\n')
    scan()

    assert cached_scan(root, None, (), ()) is None


def test_a_folder_with_the_name_of_a_port_needs_a_scan(scanned):
    root, scan = scanned
    (root / PORT_FOLDER).mkdir()
    scan()

    assert cached_scan(root, None, (), ()) is None


def test_cached_result_and_document_equal_those_of_the_scan(scanned, tmp_path):
    root, scan = scanned
    document = scan()
    written = root / ".rocm3d" / "inventory.json"
    written.unlink()

    stored = cached_scan(root, None, (), ())

    assert stored.text == document.to_json() == written.read_text(encoding="utf-8")
    assert stored.serious
    assert cached_scan(root, tmp_path / "work", (), ()).text == (tmp_path / "work" / "inventory.json").read_text()


def test_notes_alone_are_not_serious(scanned):
    root, scan = scanned
    scan(only=("CU311",))

    assert not cached_scan(root, None, ("CU311",), ()).serious


def test_neither_rules_nor_models_are_loaded(scanned):
    root, scan = scanned
    scan()
    code = (
        "import sys; from pathlib import Path; from rocm3d.scan.scan_cache import cached_scan\n"
        f"assert cached_scan(Path({str(root)!r}), None, (), ()) is not None\n"
        "print([name for name in ('pydantic', 'tree_sitter', 'typer', 'rocm3d.scan.file_scan') if name in sys.modules])"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == ("[]\n", "")
