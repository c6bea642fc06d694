from __future__ import annotations

import pytest
from gate import __main__ as gate


@pytest.mark.parametrize("make_folder", [False, True])
def test_folder_without_triton_is_refused(tmp_path, monkeypatch, capsys, make_folder):
    folder = tmp_path / "triton-0"
    if make_folder:
        folder.mkdir()
    monkeypatch.setattr("sys.argv", ["gate", "full", str(folder)])

    assert gate.main() == 2
    assert f"{folder} has no package triton" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "[", "[" * 10_000, "{}", "[]", "[1]", '[{"op": "knn"}]', "\0"])
def test_damaged_cache_is_compiled_again_and_replaced(tmp_path, monkeypatch, content):
    rows = [{"op": "knn", "kernel": "k", "target": "gfx942", "problem": ""}]
    monkeypatch.setattr(gate, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(gate, "compile_operation", lambda *_, **__: rows)
    gate.cached_rows("knn", "quick")
    (cache_file,) = tmp_path.iterdir()
    cache_file.write_text(content)

    assert gate.cached_rows("knn", "quick") == rows
    assert gate.read_rows(cache_file) == rows
    assert list(tmp_path.iterdir()) == [cache_file]
