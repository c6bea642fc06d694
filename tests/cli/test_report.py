from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

# Written by `make generate`.
GOLDEN = Path(__file__).parent / "pull_request.md"


def test_report_before_a_port_names_the_stage_to_run(rocm3d, example):
    ended = rocm3d("report", example("deform-op"))

    assert ended.code == 2
    assert "first" in ended.err


def test_an_unknown_format_is_refused(rocm3d, example):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x")

    assert rocm3d("report", root, "--format", "pdf").code == 2


def test_a_document_changed_after_sealing_exits_1_and_is_named(rocm3d, example):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x")
    verdicts = root / ".rocm3d" / "verdicts.json"
    verdicts.write_text(verdicts.read_text().replace("not_run", "skipped"))

    refused, ended = rocm3d("report", root), rocm3d("report", root, "--work", root / ".rocm3d")

    assert refused.code == 2
    assert "verdicts.json was changed" in refused.err
    assert ended.code == 1
    assert "verdicts.json" in ended.err
    assert "Changed since it was sealed" in (root / ".rocm3d" / "report.html").read_text()


def test_the_page_and_the_json_come_from_the_same_evidence(rocm3d, example, tmp_path):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x")

    page = rocm3d("report", root, "--output", tmp_path / "page.html")
    document = rocm3d("report", root, "--format", "json")

    assert (0, f"{tmp_path / 'page.html'}\n") == (page.code, page.out)
    evidence = json.loads(document.out)
    assert [evidence.pop(key) for key in ("moved", "runs", "unread")] == [[], [], []]
    assert evidence == json.loads((root / ".rocm3d" / "evidence.json").read_text())


def test_pull_request_text_matches_the_stored_one(rocm3d, example):
    root = example("splat-trainer")
    rocm3d("port", root, "--gpu", "mi300x", "--no-compile")

    ended = rocm3d("report", root, "--format", "pr")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == GOLDEN.read_text(), "run `make generate` and look at what changed"


def test_the_text_of_a_pull_request_names_every_finding_of_the_plan(rocm3d, example, tmp_path):
    root = example("splat-trainer")
    rocm3d("port", root, "--gpu", "mi300x", "--skip", "BLD")

    rocm3d("report", root, "--format", "pr", "--output", tmp_path / "pr.md")

    plan = json.loads((root / ".rocm3d" / "plan.json").read_text())
    table = (tmp_path / "pr.md").read_text().partition("## All findings")[2]
    result = [*plan["answered"], *(item for edit in plan["edits"] for item in edit["findings"])]
    result += [item["finding"] for item in plan["left"]]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    for item in result:
        lines = [row for row in rows if f"`{item['path']}:" in row and f" {item['code']} " in row]
        assert any(str(item["line"]) in row.split("`")[1].partition(":")[2].split(",") for row in lines), item
    assert "excluded by --skip BLD" in table


@pytest.fixture
def ported_with_run(rocm3d, example, monkeypatch):
    """A ported example with a run that wrote a point cloud."""
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x")
    monkeypatch.chdir(root)
    lines = "\\n".join(["ply", "format ascii 1.0", "element vertex 3", *(f"property float {a}" for a in "xyz")])
    program = f"open('a.ply', 'w').write('{lines}\\nend_header\\n0 0 0\\n1 0 0\\n0 1 0\\n')"
    ended = rocm3d("run", "--name", "make", "--expect", "points = 3", "--", sys.executable, "-c", program)
    assert ended.code == 0, ended.err
    return root


def test_runs_of_the_ported_folder_are_on_its_page(rocm3d, ported_with_run):
    ended = rocm3d("report", ported_with_run)
    page = (ported_with_run / ".rocm3d" / "report.html").read_text()

    assert ended.code == 0, ended.err
    assert "1 of 1 recorded runs ended as expected, none with a complete chain of evidence, none on an AMD GPU." in page
    assert 'alt="Preview of a.ply, point cloud, PLY,' in page
    assert [
        item["folder"] for item in json.loads(rocm3d("report", ported_with_run, "--format", "json").out)["runs"]
    ] == ["make"]
    assert "### make" in rocm3d("report", ported_with_run, "--format", "markdown").out
    assert "- Run `make`, no GPU" in rocm3d("report", ported_with_run, "--format", "pr").out


def test_a_run_that_was_changed_exits_1_and_is_named(rocm3d, ported_with_run):
    (ported_with_run / ".rocm3d" / "runs" / "make" / "output.txt").write_text("all is well")

    ended = rocm3d("report", ported_with_run)

    assert ended.code == 1
    assert "altered after it was sealed: make/output.txt" in ended.err


def test_incomplete_run_is_reported_and_the_page_is_written(rocm3d, ported_with_run):
    (ported_with_run / ".rocm3d" / "runs" / "make" / "UNFINISHED").touch()

    ended = rocm3d("report", ported_with_run)

    assert ended.code == 0
    assert "the run in make is not shown: make is incomplete" in ended.err


def test_bundle_of_a_single_run(rocm3d, ported_with_run, tmp_path):
    bundle = ported_with_run / ".rocm3d" / "runs" / "make"

    page = rocm3d("report", bundle, "--output", tmp_path / "run.html")
    default_output = rocm3d("report", bundle)

    assert (page.code, page.out) == (0, f"{tmp_path / 'run.html'}\n")
    assert "<h3" in (tmp_path / "run.html").read_text()
    assert (default_output.code, default_output.out) == (0, "make.html\n")
    assert json.loads(rocm3d("report", bundle, "--format", "json").out)["bundle"]["runs"][0]["name"] == "make"
    assert rocm3d("report", bundle, "--format", "markdown").out.startswith("# Evidence make\n")
    assert "ran on" in rocm3d("report", bundle, "--format", "console").out
    assert rocm3d("evidence", "check", bundle).code == 0, "a report must not change what it shows"


def test_bundle_of_a_run_is_refused_as_pull_request(rocm3d, ported_with_run):
    ended = rocm3d("report", ported_with_run / ".rocm3d" / "runs" / "make", "--format", "pr")

    assert ended.code == 2
    assert "pass the ported repository" in ended.err


def test_a_changed_bundle_exits_1(rocm3d, ported_with_run, tmp_path):
    bundle = ported_with_run / ".rocm3d" / "runs" / "make"
    (bundle / "new.txt").touch()

    ended = rocm3d("report", bundle, "--output", tmp_path / "run.html")

    assert ended.code == 1
    assert "altered after it was sealed: new.txt" in ended.err
    assert "Changed since it was sealed" in (tmp_path / "run.html").read_text()


def test_incomplete_bundle_is_one_line(rocm3d, tmp_path):
    (tmp_path / "UNFINISHED").touch()

    ended = rocm3d("report", tmp_path)

    assert ended.code == 2
    assert "is incomplete" in ended.err
