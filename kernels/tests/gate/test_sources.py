from __future__ import annotations

import json

import pytest
from gate import __main__ as command
from gate import sources


@pytest.fixture
def package(tmp_path):
    """One operation with a tuning table, and a folder that is not an operation."""
    for name in ("blur/triton.py", "blur/reference.py", "tuning/blur.json", "dropin/auto.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


def test_folders_with_kernels_are_operations(package):
    assert sources.operations(package) == ["blur"]


@pytest.mark.parametrize("name", ["blur/triton.py", "tuning/blur.json", "blur/gate.py", "sharpen/triton.py"])
def test_digest_changes_with_the_compiled_sources(package, name):
    (package / "sharpen").mkdir()
    (package / "sharpen" / "triton.py").write_text("")
    (package / "blur" / "triton.py").write_text("from rocm3d_kernels.sharpen.triton import edge\n")
    before = sources.digest("blur", package)
    (package / name).write_text("x = 2\n")

    assert sources.digest("blur", package) != before


def test_digest_changes_with_the_compile_script(package, monkeypatch, tmp_path):
    before = sources.digest("blur", package)
    (tmp_path / "compile.py").write_text("changed")
    monkeypatch.setattr(sources, "COMPILE_SCRIPT", tmp_path / "compile.py")

    assert sources.digest("blur", package) != before


def test_digest_does_not_change_with_the_reference(package):
    before = sources.digest("blur", package)
    (package / "blur" / "reference.py").write_text("x = 2\n")

    assert sources.digest("blur", package) == before


def test_table_of_other_sources_is_outdated(tmp_path):
    table = tmp_path / "gate.json"

    assert command.outdated_operations(table) == ["gate.json is missing. Write it: make gate"]
    table.write_text(json.dumps({"sources": sources.digests()}))
    assert command.outdated_operations(table) == []
    table.write_text(json.dumps({"sources": {**sources.digests(), "knn": "other"}}))
    assert ["knn" in line for line in command.outdated_operations(table)] == [True]
