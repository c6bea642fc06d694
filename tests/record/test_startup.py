from __future__ import annotations

import os

from rocm3d.record.startup import FOLDER, reported, with_hook


def test_no_report_is_no_lines(tmp_path):
    assert reported(tmp_path / "report.jsonl") == []


def test_lines_that_are_not_whole_are_passed_over(tmp_path):
    report = tmp_path / "report.jsonl"
    report.write_text('{"kind": "tensor"}\n[1]\n{"kind": "ten')

    assert reported(report) == [{"kind": "tensor"}]


def test_our_folder_comes_before_what_the_user_has(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/theirs")

    environment = with_hook(tmp_path / "r", ROCM3D_GOLDEN="{}")

    assert environment["PYTHONPATH"] == f"{FOLDER}{os.pathsep}/theirs"
    assert environment["ROCM3D_GOLDEN"] == "{}"
    assert (FOLDER / "sitecustomize.py").is_file()


def test_without_a_path_there_is_no_empty_entry(tmp_path, monkeypatch):
    """An empty entry would mean the current folder."""
    monkeypatch.delenv("PYTHONPATH", raising=False)

    assert with_hook(tmp_path / "r")["PYTHONPATH"] == str(FOLDER)
