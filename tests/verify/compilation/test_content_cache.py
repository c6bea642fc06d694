from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.model.compilation import CompileResult
from rocm3d.verify.compilation.content_cache import ContentCache, read_dependencies
from rocm3d.workspace.result_cache import ResultCache

DONE = CompileResult(side="gfx942", outcome="compiled")


@pytest.fixture
def store(tmp_path):
    return ResultCache(tmp_path / "c.sqlite")


def copy(tmp_path, name, **texts) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    for path, text in texts.items():
        (folder / f"{path}.h").write_text(text)
    return folder


def test_without_a_store_nothing_is_known(tmp_path):
    cache = ContentCache(None, tmp_path, ())

    cache.keep(cache.key("k"), [], DONE)

    assert cache.find(cache.key("k")) is None


def test_a_file_more_is_another_name_but_for_what_a_port_adds(tmp_path):
    first, second = copy(tmp_path, "one", a="x"), copy(tmp_path, "two", a="y")
    (second / "rocm-port").mkdir()
    (second / "rocm-port" / "install.sh").write_text("")

    assert ContentCache(None, first, ()).names() == ContentCache(None, second, ()).names()
    (second / "b.h").write_text("")
    assert ContentCache(None, first, ()).names() != ContentCache(None, second, ()).names()


def test_the_same_files_in_another_copy_are_the_same_result(tmp_path, store):
    first, second = copy(tmp_path, "one", a="x"), copy(tmp_path, "two", a="x")
    cache = ContentCache(store, first, ())
    cache.keep(cache.key("k"), [first / "a.h"], DONE)

    assert ContentCache(store, second, ()).find(cache.key("k")) == DONE
    assert ContentCache(store, second, ()).find(cache.key("other")) is None


def test_another_content_is_another_result(tmp_path, store):
    first, second = copy(tmp_path, "one", a="x"), copy(tmp_path, "two", a="y")
    cache = ContentCache(store, first, ())
    cache.keep(cache.key("k"), [first / "a.h"], DONE)

    assert ContentCache(store, second, ()).find(cache.key("k")) is None


def test_a_header_that_goes_back_is_known_again(tmp_path, store):
    failed = CompileResult(side="gfx942", outcome="failed")
    for name, text, result in (("one", "x", DONE), ("two", "y", failed)):
        folder = copy(tmp_path, name, a=text)
        cache = ContentCache(store, folder, ())
        cache.keep(cache.key("k"), [folder / "a.h"], result)

    assert ContentCache(store, copy(tmp_path, "three", a="x"), ()).find(cache.key("k")) == DONE
    assert ContentCache(store, copy(tmp_path, "four", a="y"), ()).find(cache.key("k")) == failed


def test_a_file_that_is_gone_is_a_change(tmp_path, store):
    first = copy(tmp_path, "one", a="x")
    cache = ContentCache(store, first, ())
    cache.keep(cache.key("k"), [first / "a.h"], DONE)
    (first / "a.h").unlink()

    assert ContentCache(store, first, ()).find(cache.key("k")) is None


def test_files_of_the_toolchain_are_not_looked_into(tmp_path, store):
    tools = copy(tmp_path, "tools", big="x")
    cache = ContentCache(store, tmp_path, (tools,))
    cache.keep(cache.key("k"), [tools / "big.h"], DONE)
    (tools / "big.h").write_text("changed, and the key says so")

    assert ContentCache(store, tmp_path, (tools,)).find(cache.key("k")) == DONE


def test_an_entry_of_another_version_is_no_result(tmp_path, store):
    cache = ContentCache(store, tmp_path, ())
    store.put({cache.key("k"): '{"results": [{"other": 1}]}'})

    assert cache.find(cache.key("k")) is None


def test_the_rule_of_a_compiler(tmp_path):
    rule = tmp_path / "x.d"
    rule.write_text("it: a.cu \\\n  sub/with\\ space.h \\\n /usr/include/stdio.h\n")

    found = read_dependencies(rule, tmp_path)

    assert [path.name for path in found] == ["a.cu", "with space.h", "stdio.h"]
    assert read_dependencies(tmp_path / "gone.d", tmp_path) == []
