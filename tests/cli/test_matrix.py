from __future__ import annotations

import csv
import io
import json


def test_a_folder_that_was_not_scanned_is_refused_with_a_hint(rocm3d, tmp_path):
    ended = rocm3d("matrix", tmp_path)

    assert ended.code == 2
    assert "rocm3d scan" in ended.err


def test_matrix_of_the_examples(rocm3d, example, tmp_path):
    folders = [example("splat-trainer"), example("already-portable")]
    for folder in folders:
        assert rocm3d("plan", folder, "--gpu", "mi300x").code in (0, 1)
    ended = rocm3d("matrix", *folders, "--format", "json")
    document = json.loads(ended.out)

    assert ended.code == 0
    assert [item["repository"] for item in document["columns"]] == ["already-portable", "splat-trainer"]
    assert all(item["planned"] == "mi300x" for item in document["columns"])
    assert "already-portable" in document["free"]
    table = list(csv.reader(io.StringIO(rocm3d("matrix", *folders, "--format", "csv").out)))
    assert len(table) == 1 + len(document["rows"]) + 1
    assert table[-1] == ["(state of the port)", "", "", "edited not run", "edited not run"]
    assert rocm3d("matrix", *folders, "--format", "svg", "--output", tmp_path / "m.svg").code == 0
    assert (tmp_path / "m.svg").read_text().startswith("<svg")
    assert "order of work" in rocm3d("matrix", *folders).out or not document["order"]


def test_job_options_without_jobs_are_refused(rocm3d, tmp_path):
    ended = rocm3d("matrix", tmp_path, "--gpu", "mi300x")

    assert ended.code == 2
    assert "need --jobs" in ended.err


def test_jobs_scan_and_plan_every_repository_of_a_folder(rocm3d, example, tmp_path):
    for name in ("splat-trainer", "already-portable"):
        example(name).rename(tmp_path / f"{name}-1")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "rocm3d.toml").write_text("no = 'such key'\n")
    (tmp_path / "broken" / "a.py").write_text("")
    (tmp_path / ".hidden").mkdir()
    ended = rocm3d("matrix", tmp_path, "--jobs", "--gpu", "mi300x", "--at-once", "2", "--format", "json")
    document = json.loads(ended.out)

    assert ended.code == 1
    assert {item["repository"]: item["planned"] for item in document["columns"]} == {
        "already-portable-1": "mi300x",
        "splat-trainer-1": "mi300x",
    }
    assert "broken-" in ended.err
    assert "exit code 2" in ended.err
    # One plan failed, so a second run plans all of them again.
    (tmp_path / "broken" / "rocm3d.toml").unlink()
    ended = rocm3d("matrix", tmp_path, "--jobs", "--gpu", "mi300x", "--format", "json")
    assert ended.code == 0, ended.err
    assert len(json.loads(ended.out)["columns"]) == 3


def test_modules_of_a_repository_are_not_imported(rocm3d, example):
    """The jobs run in the repository if it is the only one."""
    root = example("already-portable")
    (root / ".git").mkdir()
    for name in ("rocm3d", "typer", "json"):
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(f"open({str(root / 'ran')!r}, 'w')\n")

    ended = rocm3d("matrix", root, "--jobs", "--gpu", "mi300x", "--format", "json")

    assert not (root / "ran").exists()
    assert json.loads(ended.out)["columns"][0]["planned"] == "mi300x"
