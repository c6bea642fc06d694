from __future__ import annotations

from rocm3d.record.manifest import cold_caches


def test_missing_and_empty_caches_are_cold_and_full_ones_are_not(knowledge, tmp_path, monkeypatch):
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.mkdir()
    empty.mkdir()
    (full / "kernel").write_text("x")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(full))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(empty))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "none"))

    assert {"TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"} <= set(cold_caches(knowledge))
    assert "TRITON_CACHE_DIR" not in cold_caches(knowledge)


def test_without_the_variable_the_default_of_its_record_is_used(knowledge, tmp_path, monkeypatch):
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "TRITON_CACHE_DIR" in cold_caches(knowledge)
    (tmp_path / ".triton" / "cache" / "a").mkdir(parents=True)

    assert "TRITON_CACHE_DIR" not in cold_caches(knowledge)
