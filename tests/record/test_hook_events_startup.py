from __future__ import annotations

import os

from rocm3d.record.hook_events import HOOKS_FOLDER, hook_environment, read_events


def test_missing_report_has_no_events(tmp_path):
    assert read_events(tmp_path / "report.jsonl") == []


def test_incomplete_lines_are_skipped(tmp_path):
    report = tmp_path / "report.jsonl"
    report.write_text('{"kind": "tensor"}\n[1]\n{"kind": "ten')

    assert read_events(report) == [{"kind": "tensor"}]


def test_hooks_folder_comes_first_on_pythonpath(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/theirs")

    environment = hook_environment(tmp_path / "r", ROCM3D_GOLDEN="{}")

    assert environment["PYTHONPATH"] == f"{HOOKS_FOLDER}{os.pathsep}/theirs"
    assert environment["ROCM3D_GOLDEN"] == "{}"
    assert (HOOKS_FOLDER / "sitecustomize.py").is_file()


def test_unset_pythonpath_adds_no_empty_entry(tmp_path, monkeypatch):
    """An empty entry would mean the current folder."""
    monkeypatch.delenv("PYTHONPATH", raising=False)

    assert hook_environment(tmp_path / "r")["PYTHONPATH"] == str(HOOKS_FOLDER)
