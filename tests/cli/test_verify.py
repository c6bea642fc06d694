from __future__ import annotations

import json

import pytest


def test_an_unknown_level_is_refused(rocm3d, example):
    ended = rocm3d("verify", example("deform-op"), "--level", "statik")

    assert ended.code == 2
    assert "static" in ended.err


def test_verify_before_a_port_names_the_stage_to_run(rocm3d, example):
    ended = rocm3d("verify", example("deform-op"))

    assert ended.code == 2
    assert "rocm3d apply" in ended.err


def test_named_level_that_cannot_run_exits_4(rocm3d, example):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--level", "workload")

    assert ended.code == 4
    assert ended.out.startswith("not_run")


def test_an_unknown_resolver_is_refused(rocm3d, example):
    assert rocm3d("verify", example("deform-op"), "--resolver", "conda").code == 2


def test_resolver_is_not_used_offline(rocm3d, example):
    root = example("already-portable")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--level", "resolve", "--offline")

    assert ended.code == 4
    assert "--offline is set" in ended.out


def test_network_is_not_used_by_default(rocm3d, example):
    root = example("already-portable")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--format", "json")

    (verdict,) = [item for item in json.loads(ended.out)["verdicts"] if item["level"] == "resolve"]
    assert ended.code == 0
    assert (verdict["outcome"], verdict["reason"]) == (
        "not_run",
        "needs the network. Run rocm3d verify . --level resolve",
    )


def test_unreachable_index_exits_4(rocm3d, example):
    root = example("already-portable")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--level", "resolve", env={"PIP_INDEX_URL": "http://127.0.0.1:9/simple"})

    assert ended.code == 4
    assert "does not respond" in ended.out


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


def test_port_passes_and_lists_what_was_not_run(rocm3d, example):
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


def test_missing_interpreter_is_refused(rocm3d, example, tmp_path):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")

    ended = rocm3d("verify", root, "--level", "import", "--python", tmp_path / "nobody")

    assert ended.code == 2
    assert "no such file" in ended.err


def test_without_a_gpu_packages_are_only_imported(rocm3d, example, torch_python):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")

    imported = rocm3d("verify", root, "--level", "import", "--python", torch_python, "--format", "json")
    backend = rocm3d("verify", root, "--level", "backend", "--python", torch_python)

    passed = [item for item in json.loads(imported.out)["verdicts"] if item["outcome"] == "passed"]
    assert "site-packages/torch/__init__.py" in passed[0]["looked_at"][0]
    assert backend.code == 4
    assert "sees no GPU" in backend.out


@pytest.mark.parametrize("active", [False, True])
def test_interpreter_that_came_with_the_repository_runs_only_if_named(rocm3d, example, tmp_path, active):
    root = example("splat-trainer")
    rocm3d("apply", root, "--gpu", "mi300x", "--into", tmp_path / "ported")
    trap = tmp_path / "ported" / ".venv" / "bin" / "python"
    trap.parent.mkdir(parents=True)
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    environment = {"VIRTUAL_ENV": str(trap.parents[1]) if active else ""}

    everything = rocm3d("verify", tmp_path / "ported", "--format", "json", env=environment)
    imported = rocm3d("verify", tmp_path / "ported", "--level", "import", env=environment)
    planned = rocm3d("plan", tmp_path / "ported", "--gpu", "mi300x", "--keep-torch", env=environment)

    assert not (tmp_path / "ran").exists()
    reasons = {item["reason"] for item in json.loads(everything.out)["verdicts"] if item["level"] == "import"}
    assert reasons == {f"{trap} is part of the repository, so it runs only if you name it: pass --python {trap}"}
    assert (imported.code, planned.code) == (4, 4)
    assert f"hint: pass --python {trap}" in planned.err
    rocm3d("verify", tmp_path / "ported", "--level", "import", "--python", trap)
    assert (tmp_path / "ran").exists()
