"""A cached scan is used only if nothing has changed that it depends on."""

from __future__ import annotations

import json

import pytest

from rocm3d.scan.remembered import Kept, Noted, Remembered, basis
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.tree import Tree

KEPT = Kept('{"findings": []}\n', serious=True, also={"c.hip": ""})


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_bytes(b"x = 1\n")
    (root / "sub" / "b.cu").write_bytes(b"int x;\n")
    (root / "c.hip").write_bytes(b"int y;\n")
    return root


@pytest.fixture
def remembered(root, tmp_path):
    def at(folder=root, **given):
        return Remembered(ResultCache(tmp_path / "scan.sqlite"), Tree.open(folder), given.get("basis", "b"))

    return at


WANTED = ["a.py", "sub/b.cu"]


def keep(seen: Remembered) -> None:
    also = {"c.hip": Noted(seen.tree.read)}
    read = also["c.hip"]
    read("c.hip")
    seen.keep(seen.key(WANTED), WANTED, Kept(KEPT.text, KEPT.serious, read.digests))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a.py").write_bytes(b"x = 2\n"),
        lambda root: (root / "new.txt").write_bytes(b""),
        lambda root: (root / "sub" / "b.cu").unlink(),
        lambda root: (root / "sub").rename(root / "other"),
        lambda root: (root / "c.hip").write_bytes(b"int z;\n"),
        lambda root: (root / "link").symlink_to("a.py"),
    ],
    ids=["bytes", "new file", "no file", "other path", "other file that was read", "link"],
)
def test_after_a_change_nothing_is_found(root, remembered, change):
    keep(remembered())
    change(root)

    assert remembered().find() is None


def test_under_another_name_or_with_other_rules_nothing_is_found(root, remembered):
    keep(remembered())

    assert remembered(basis="other").find() is None
    assert remembered(root.rename(root.parent / "renamed")).find() is None


@pytest.mark.parametrize("value", ["", "null", "[]", "{}", "[1]", '["nowhere"]', '{"text": 1}', "[" * 9999])
def test_what_somebody_else_wrote_is_not_taken(remembered, value):
    seen = remembered()
    keep(seen)
    for key in (seen._names_key(), seen.key(WANTED)):
        seen.cache.put({key: value})
        assert seen.find() is None


def test_the_same_tree_is_found(remembered):
    keep(remembered())

    found = remembered().find()

    assert (found.text, found.serious) == (KEPT.text, KEPT.serious)


def test_the_basis_holds_rules_and_knowledge():
    assert len({basis(*given) for given in (("f", (), ()), ("g", (), ()), ("f", ("A",), ()), ("f", (), ("A",)))}) == 4
    assert basis("f", ["A"], []) == basis("f", ("A",), ())


def test_progress_is_told_every_path_before_it_is_read(root, tmp_path):
    told: list[str] = []
    seen = Remembered(ResultCache(tmp_path / "scan.sqlite"), Tree.open(root), "b", told.append)

    seen.key(WANTED)

    assert told == WANTED


def test_what_is_kept_is_json(remembered):
    seen = remembered()
    keep(seen)

    (value,) = seen.cache.get([seen.key(WANTED)]).values()
    assert json.loads(value)["text"] == KEPT.text
