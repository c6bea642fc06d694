from __future__ import annotations

import json
from pathlib import Path

# Written by `make generate`.
GOLDEN = Path(__file__).parent / "pull_request.md"


def test_before_a_port_it_says_which_stage_to_run(rocm3d, example):
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

    ended = rocm3d("report", root)

    assert ended.code == 1
    assert "verdicts.json" in ended.err
    assert "Changed since it was sealed" in (root / ".rocm3d" / "report.html").read_text()


def test_the_page_and_the_json_come_from_the_same_evidence(rocm3d, example, tmp_path):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x")

    page = rocm3d("report", root, "--output", tmp_path / "page.html")
    document = rocm3d("report", root, "--format", "json")

    assert (0, f"{tmp_path / 'page.html'}\n") == (page.code, page.out)
    assert json.loads(document.out) == json.loads((root / ".rocm3d" / "evidence.json").read_text())


def test_the_text_of_a_pull_request_is_the_one_that_is_kept(rocm3d, example):
    root = example("splat-trainer")
    rocm3d("port", root, "--gpu", "mi300x")

    ended = rocm3d("report", root, "--format", "pr")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == GOLDEN.read_text(), "run `make generate` and look at what changed"


def test_the_text_of_a_pull_request_names_every_finding_of_the_plan(rocm3d, example, tmp_path):
    root = example("splat-trainer")
    rocm3d("port", root, "--gpu", "mi300x", "--skip", "BLD")

    rocm3d("report", root, "--format", "pr", "--output", tmp_path / "pr.md")

    plan = json.loads((root / ".rocm3d" / "plan.json").read_text())
    table = (tmp_path / "pr.md").read_text().partition("## Every finding")[2]
    found = [*plan["answered"], *(item for edit in plan["edits"] for item in edit["findings"])]
    found += [item["finding"] for item in plan["left"]]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    for item in found:
        lines = [row for row in rows if f"`{item['path']}:" in row and f" {item['code']} " in row]
        assert any(str(item["line"]) in row.split("`")[1].partition(":")[2].split(",") for row in lines), item
    assert "left out by --skip BLD" in table
