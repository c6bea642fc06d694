from __future__ import annotations

import json


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
