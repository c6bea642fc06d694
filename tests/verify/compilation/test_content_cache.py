from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.model.verdict import CompileResult
from rocm3d.verify.compilation.content_cache import ContentCache, read_dependencies
from rocm3d.workspace.result_cache import ResultCache

COMPILED = CompileResult(side="gfx942", outcome="compiled")


@pytest.fixture
def store(tmp_path):
    return ResultCache(tmp_path / "c.sqlite")


def make_folder(tmp_path, name, **texts) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    for path, text in texts.items():
        (folder / f"{path}.h").write_text(text)
    return folder


def test_without_a_store_nothing_is_cached(tmp_path):
    cache = ContentCache(None, tmp_path, ())

    cache.put(cache.key("k"), [], COMPILED)

    assert cache.find(cache.key("k")) is None


def test_names_digest_changes_with_new_files_outside_the_port(tmp_path):
    first, second = make_folder(tmp_path, "one", a="x"), make_folder(tmp_path, "two", a="y")
    (second / "rocm-port").mkdir()
    (second / "rocm-port" / "install.sh").write_text("")

    assert ContentCache(None, first, ()).names_digest() == ContentCache(None, second, ()).names_digest()
    (second / "b.h").write_text("")
    assert ContentCache(None, first, ()).names_digest() != ContentCache(None, second, ()).names_digest()


def test_the_same_files_in_another_copy_are_the_same_result(tmp_path, store):
    first, second = make_folder(tmp_path, "one", a="x"), make_folder(tmp_path, "two", a="x")
    cache = ContentCache(store, first, ())
    cache.put(cache.key("k"), [first / "a.h"], COMPILED)

    assert ContentCache(store, second, ()).find(cache.key("k")) == COMPILED
    assert ContentCache(store, second, ()).find(cache.key("other")) is None


def test_another_content_is_another_result(tmp_path, store):
    first, second = make_folder(tmp_path, "one", a="x"), make_folder(tmp_path, "two", a="y")
    cache = ContentCache(store, first, ())
    cache.put(cache.key("k"), [first / "a.h"], COMPILED)

    assert ContentCache(store, second, ()).find(cache.key("k")) is None


def test_a_header_that_changes_back_is_cached(tmp_path, store):
    failed = CompileResult(side="gfx942", outcome="failed")
    for name, text, result in (("one", "x", COMPILED), ("two", "y", failed)):
        folder = make_folder(tmp_path, name, a=text)
        cache = ContentCache(store, folder, ())
        cache.put(cache.key("k"), [folder / "a.h"], result)

    assert ContentCache(store, make_folder(tmp_path, "three", a="x"), ()).find(cache.key("k")) == COMPILED
    assert ContentCache(store, make_folder(tmp_path, "four", a="y"), ()).find(cache.key("k")) == failed


def test_a_file_that_is_gone_is_a_change(tmp_path, store):
    first = make_folder(tmp_path, "one", a="x")
    cache = ContentCache(store, first, ())
    cache.put(cache.key("k"), [first / "a.h"], COMPILED)
    (first / "a.h").unlink()

    assert ContentCache(store, first, ()).find(cache.key("k")) is None


def test_files_of_the_toolchain_are_not_hashed(tmp_path, store):
    tools = make_folder(tmp_path, "tools", big="x")
    cache = ContentCache(store, tmp_path, (tools,))
    cache.put(cache.key("k"), [tools / "big.h"], COMPILED)
    (tools / "big.h").write_text("changed, and the key says so")

    assert ContentCache(store, tmp_path, (tools,)).find(cache.key("k")) == COMPILED


def test_an_entry_of_another_version_is_no_result(tmp_path, store):
    cache = ContentCache(store, tmp_path, ())
    store.put({cache.key("k"): '{"results": [{"other": 1}]}'})

    assert cache.find(cache.key("k")) is None


def test_dependency_files_are_parsed(tmp_path):
    rule = tmp_path / "x.d"
    rule.write_text("it: a.cu \\\n  sub/with\\ space.h \\\n /usr/include/stdio.h\n")

    dependencies = read_dependencies(rule, tmp_path)

    assert [path.name for path in dependencies] == ["a.cu", "with space.h", "stdio.h"]
    assert read_dependencies(tmp_path / "gone.d", tmp_path) == []
