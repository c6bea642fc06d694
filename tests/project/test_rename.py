"""scripts/rename.py: where names are defined, and edits by position. pyright, which finds references, is not run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import rename
import rename_definitions
from rename_definitions import Edit, Position, Source, definition

TEXT = '''LIMIT = 1
class Told:
    kept: int = 0
    def read(self, given):
        """given, not this one"""
        self.rest = [found for found in given]
        return lambda item: item
'''


@pytest.fixture
def source(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(rename_definitions, "ROOT", tmp_path)
    monkeypatch.setattr(rename, "ROOT", tmp_path)
    return Source("a.py")


@pytest.mark.parametrize("key", ["Nobody", "Told.nobody", "Told.read(nobody)", "nobody(given)"])
def test_an_unknown_name_is_refused(source, key):
    with pytest.raises(LookupError):
        definition(source, key)


@pytest.mark.parametrize(
    ("key", "position"),
    [
        ("LIMIT", Position(0, 0)),
        ("Told", Position(1, 6)),
        ("Told.kept", Position(2, 4)),
        ("Told.read", Position(3, 8)),
        ("Told.read(given)", Position(3, 19)),
        ("Told.rest", Position(5, 13)),
        ("Told.read(found)", Position(5, 31)),
    ],
)
def test_definition(source, key, position):
    assert definition(source, key)[0] == position


def test_edits_of_one_line_do_not_shift_each_other(source, tmp_path):
    edits = [
        Edit("a.py", Position(5, 21), Position(5, 26), "entry_of_the_list"),
        Edit("a.py", Position(5, 31), Position(5, 36), "entry_of_the_list"),
    ]
    rename.apply_edits(edits, {})

    line = (tmp_path / "a.py").read_text(encoding="utf-8").splitlines()[5]
    assert line == "        self.rest = [entry_of_the_list for entry_of_the_list in given]"
