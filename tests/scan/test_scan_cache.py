"""A cached scan is used only if nothing has changed that it depends on."""

from __future__ import annotations

import json

import pytest

from rocm3d.scan.scan_cache import CachedScan, DigestingReader, ScanCache, key_prefix
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.tree import Tree

ENTRY = CachedScan('{"findings": []}\n', serious=True, also={"c.hip": ""})


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_bytes(b"x = 1\n")
    (root / "sub" / "b.cu").write_bytes(b"int x;\n")
    (root / "c.hip").write_bytes(b"int y;\n")
    return root


@pytest.fixture
def make_cache(root, tmp_path):
    def at(folder=root, **arguments):
        return ScanCache(ResultCache(tmp_path / "scan.sqlite"), Tree.open(folder), arguments.get("basis", "b"))

    return at


SCANNED_PATHS = ["a.py", "sub/b.cu"]


def store_entry(scan_cache: ScanCache) -> None:
    also = {"c.hip": DigestingReader(scan_cache.tree.read)}
    read = also["c.hip"]
    read("c.hip")
    scan_cache.put(scan_cache.key(SCANNED_PATHS), SCANNED_PATHS, CachedScan(ENTRY.text, ENTRY.serious, read.digests))


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
def test_change_invalidates_entry(root, make_cache, change):
    store_entry(make_cache())
    change(root)

    assert make_cache().find() is None


def test_other_name_or_rules_have_no_entry(root, make_cache):
    store_entry(make_cache())

    assert make_cache(basis="other").find() is None
    assert make_cache(root.rename(root.parent / "renamed")).find() is None


@pytest.mark.parametrize("value", ["", "null", "[]", "{}", "[1]", '["nowhere"]', '{"text": 1}', "[" * 9999])
def test_invalid_entry_is_ignored(make_cache, value):
    cache = make_cache()
    store_entry(cache)
    for key in (cache._paths_key(), cache.key(SCANNED_PATHS)):
        cache.cache.put({key: value})
        assert cache.find() is None


def test_unchanged_tree_is_cached(make_cache):
    store_entry(make_cache())

    result = make_cache().find()

    assert (result.text, result.serious) == (ENTRY.text, ENTRY.serious)


def test_key_prefix_depends_on_rules_and_knowledge():
    assert (
        len(
            {
                key_prefix(*arguments)
                for arguments in (("f", (), ()), ("g", (), ()), ("f", ("A",), ()), ("f", (), ("A",)))
            }
        )
        == 4
    )
    assert key_prefix("f", ["A"], []) == key_prefix("f", ("A",), ())


def test_progress_is_called_before_each_read(root, tmp_path):
    reported: list[str] = []
    cache = ScanCache(ResultCache(tmp_path / "scan.sqlite"), Tree.open(root), "b", reported.append)

    cache.key(SCANNED_PATHS)

    assert reported == SCANNED_PATHS


def test_entries_are_json(make_cache):
    cache = make_cache()
    store_entry(cache)

    (value,) = cache.cache.get([cache.key(SCANNED_PATHS)]).values()
    assert json.loads(value)["text"] == ENTRY.text
