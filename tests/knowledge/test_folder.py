"""Cached records equal the parsed ones, and a broken cache has no effect."""

from __future__ import annotations

import gc
import json
import shutil
import weakref

import pytest

from rocm3d.knowledge.folder import RecordFolder
from rocm3d.knowledge.kinds import KINDS
from rocm3d.knowledge.load import data_folder, load
from rocm3d.model.errors import UserError
from rocm3d.workspace.result_cache import ResultCache


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "knowledge.sqlite")


class CountingCache:
    """A cache that counts stored entries."""

    def __init__(self):
        self.held: dict[str, str] = {}

    def get(self, keys):
        return {key: self.held[key] for key in keys if key in self.held}

    def put(self, values):
        self.held |= values


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}", '{"id": 3}', "null"])
def test_invalid_cache_entry_is_ignored(text):
    held = CountingCache()
    RecordFolder(data_folder(), held).records("families")
    held.held = dict.fromkeys(held.held, text)

    assert RecordFolder(data_folder(), held).records("families") == load().families


def test_changed_file_is_parsed_again(tmp_path, cache):
    shutil.copytree(data_folder() / "families", tmp_path / "own" / "families")
    before = RecordFolder(tmp_path / "own", cache).records("families")
    path = tmp_path / "own" / "families" / "gaussian.toml"
    path.write_text(path.read_text().replace(before["gaussian"].title, "Another title"))

    after = RecordFolder(tmp_path / "own", cache).records("families")

    assert after["gaussian"].title == "Another title"
    assert {**after, "gaussian": None} == {**before, "gaussian": None}


def test_a_record_that_is_wrong_is_refused_with_a_cache_too(tmp_path, cache):
    (tmp_path / "own" / "families").mkdir(parents=True)
    (tmp_path / "own" / "families" / "f.toml").write_text('id = "f"\n')
    for _ in range(2):
        with pytest.raises(UserError, match=r"^own/families/f.toml: "):
            RecordFolder(tmp_path / "own", cache).records("families")


def test_cached_records_equal_parsed_records(cache):
    """For the whole knowledge base, including the order."""
    plain = load()
    first, second = load(cache=cache), load(cache=cache)
    for kind in KINDS:
        expected = list(getattr(plain, kind).items())
        assert list(getattr(first, kind).items()) == expected
        assert list(getattr(second, kind).items()) == expected
    assert first == second == plain


def test_second_load_parses_nothing(monkeypatch):
    held = CountingCache()
    load(cache=held).packages.values()
    stored = len(held.held)
    monkeypatch.setattr("rocm3d.knowledge.folder.tomli.loads", None)

    assert len(load(cache=held).packages) > 100
    assert len(held.held) == stored


def test_cache_entries_are_json():
    held = CountingCache()
    RecordFolder(data_folder(), held).records("families")

    assert all(json.loads(text)["id"] for text in held.held.values())


def test_only_the_requested_kind_is_read(monkeypatch):
    read = []
    original = RecordFolder._files
    monkeypatch.setattr(RecordFolder, "_files", lambda self, kind: read.append(kind) or original(self, kind))
    knowledge = load()
    read.clear()

    knowledge.families["gaussian"]

    assert set(read) == {"families"}


def test_a_folder_is_freed_with_its_last_user():
    folder = RecordFolder(data_folder())
    folder.records("codes")
    reference = weakref.ref(folder)
    del folder
    gc.collect()

    assert reference() is None
