"""Cached records equal the parsed ones, and a broken cache has no effect."""

from __future__ import annotations

import json
import shutil

import pytest

from rocm3d.knowledge.folder import Folder
from rocm3d.knowledge.kinds import KINDS
from rocm3d.knowledge.load import data_folder, load
from rocm3d.model.failure import UserError
from rocm3d.workspace.result_cache import ResultCache


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "knowledge.sqlite")


class Counting:
    """A cache that counts stored entries."""

    def __init__(self):
        self.held: dict[str, str] = {}

    def get(self, keys):
        return {key: self.held[key] for key in keys if key in self.held}

    def put(self, values):
        self.held |= values


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}", '{"id": 3}', "null"])
def test_what_somebody_else_wrote_into_the_cache_is_not_taken(text):
    held = Counting()
    Folder(data_folder(), held).records("families")
    held.held = dict.fromkeys(held.held, text)

    assert Folder(data_folder(), held).records("families") == load().families


def test_a_file_that_changed_is_read_anew(tmp_path, cache):
    shutil.copytree(data_folder() / "families", tmp_path / "own" / "families")
    before = Folder(tmp_path / "own", cache).records("families")
    place = tmp_path / "own" / "families" / "gaussian.toml"
    place.write_text(place.read_text().replace(before["gaussian"].title, "Another title"))

    after = Folder(tmp_path / "own", cache).records("families")

    assert after["gaussian"].title == "Another title"
    assert {**after, "gaussian": None} == {**before, "gaussian": None}


def test_a_record_that_is_wrong_is_refused_with_a_cache_too(tmp_path, cache):
    (tmp_path / "own" / "families").mkdir(parents=True)
    (tmp_path / "own" / "families" / "f.toml").write_text('id = "f"\n')
    for _ in range(2):
        with pytest.raises(UserError, match=r"^own/families/f.toml: "):
            Folder(tmp_path / "own", cache).records("families")


def test_every_record_comes_out_of_the_cache_as_it_went_in(cache):
    """For the whole knowledge base, including the order."""
    plain = load()
    first, second = load(cache=cache), load(cache=cache)
    for kind in KINDS:
        wanted = list(getattr(plain, kind).items())
        assert list(getattr(first, kind).items()) == wanted
        assert list(getattr(second, kind).items()) == wanted
    assert first == second == plain


def test_the_second_time_nothing_is_parsed(monkeypatch):
    held = Counting()
    load(cache=held).packages.values()
    kept = len(held.held)
    monkeypatch.setattr("rocm3d.knowledge.folder.tomli.loads", None)

    assert len(load(cache=held).packages) > 100
    assert len(held.held) == kept


def test_what_is_kept_is_json():
    held = Counting()
    Folder(data_folder(), held).records("families")

    assert all(json.loads(text)["id"] for text in held.held.values())


def test_only_the_kind_that_is_asked_for_is_read(monkeypatch):
    read = []
    original = Folder._files.__wrapped__
    monkeypatch.setattr(Folder, "_files", lambda self, kind: read.append(kind) or original(self, kind))
    knowledge = load()
    read.clear()

    knowledge.families["gaussian"]

    assert set(read) == {"families"}
