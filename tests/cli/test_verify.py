from __future__ import annotations

import json


def test_an_unknown_level_is_refused(rocm3d, example):
    ended = rocm3d("verify", example("deform-op"), "--level", "statik")

    assert ended.code == 2
    assert "static" in ended.err


def test_before_a_port_it_says_which_stage_to_run(rocm3d, example):
    ended = rocm3d("verify", example("deform-op"))

    assert ended.code == 2
    assert "rocm3d apply" in ended.err


def test_a_named_level_that_cannot_run_here_exits_4(rocm3d, example):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--level", "workload")

    assert ended.code == 4
    assert ended.out.startswith("not_run")


def test_a_broken_guard_is_found(rocm3d, example):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")
    setup = root / "setup.py"
    setup.write_text(setup.read_text().replace("or is_rocm", "or True"))

    ended = rocm3d("verify", root, "--level", "static", "--format", "json")

    outcomes = {item["probe"]: item["outcome"] for item in json.loads(ended.out)["verdicts"]}
    assert ended.code == 1
    assert outcomes["prove_isolation"] == "failed"
    assert outcomes["match_patch"] == "failed"


def test_a_port_passes_what_was_looked_at_and_names_what_was_not(rocm3d, example):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--format", "json")

    document = json.loads(ended.out)
    assert ended.code == 0
    assert {item["outcome"] for item in document["verdicts"] if item["level"] == "static"} == {"passed"}
    assert {item["outcome"] for item in document["verdicts"] if item["level"] != "static"} == {"not_run"}
    assert document["targets"][0] == "gfx942"
    assert len(document["targets"]) == 2


def test_markdown(rocm3d, example):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")

    assert rocm3d("verify", root, "--format", "markdown").out.startswith("# Checks of deform-op\n")
