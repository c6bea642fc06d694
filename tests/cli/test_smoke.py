from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def python(tmp_path):
    """A fake interpreter whose response depends on the probe."""

    def make(**answers) -> Path:
        for probe, answer in answers.items():
            (tmp_path / f"{probe}.json").write_text(json.dumps({"probe": probe, **answer}))
        path = tmp_path / "python"
        absent = '{"probe": "p", "outcome": "absent", "reason": "is not installed"}'
        path.write_text(
            f"""#!/bin/sh
name=$(sed 's/.*"probe": "\\([a-z0-9_]*\\)".*/\\1/' "$2")
cat {tmp_path}/$name.json 2>/dev/null || echo '{absent}'
"""
        )
        path.chmod(0o755)
        return path

    return make


GOOD = {"outcome": "accelerated", "evidence": "device", "libraries": ["/env/lib_C.so"], "checks": [
    {"name": "c", "tolerance": "float32-gemm", "agrees": True, "max_error": 0.5},
]}  # fmt: skip


def test_an_unknown_family_is_refused(rocm3d, python):
    ended = rocm3d("smoke", "gsplatt", "--python", python())

    assert ended.code == 2
    assert "gsplat" in ended.err


def test_no_interpreter_exits_4(rocm3d, tmp_path):
    ended = rocm3d("smoke", cwd=tmp_path, env={"VIRTUAL_ENV": ""})

    assert ended.code == 4
    assert "--python" in ended.err


def test_interpreter_of_the_working_folder_runs_only_if_named(rocm3d, tmp_path):
    trap = tmp_path / ".venv" / "bin" / "python"
    trap.parent.mkdir(parents=True)
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)

    smoked = rocm3d("smoke", "base", cwd=tmp_path, env={"VIRTUAL_ENV": ""})
    examined = rocm3d("doctor", "--save", tmp_path / "machine.json", cwd=tmp_path, env={"VIRTUAL_ENV": ""})

    assert not (tmp_path / "ran").exists()
    assert smoked.code == 4
    assert f"hint: pass --python {trap}" in smoked.err
    assert examined.code in (0, 1, 4)
    assert json.loads((tmp_path / "machine.json").read_text())["no_python"].endswith(f"pass --python {trap}")
    rocm3d("smoke", "base", "--python", trap, cwd=tmp_path)
    assert (tmp_path / "ran").exists()


def test_interpreter_of_rocm3d_is_never_used(rocm3d, tmp_path):
    import sys

    assert rocm3d("smoke", "base", cwd=tmp_path, env={"VIRTUAL_ENV": sys.prefix}).code == 4


def test_no_gpu_exits_4(rocm3d, python):
    ended = rocm3d("smoke", "base", "--python", python(torch={"outcome": "not_run", "reason": "torch sees no GPU"}))

    assert (ended.code, ended.err) == (4, "0 accelerated, 0 fallback, 0 broken, 0 absent, 1 not_run\n")
    assert ended.out == "base: torch on the device\n  not_run     torch: torch sees no GPU\n"


@pytest.mark.parametrize("outcome", ["broken", "fallback"])
def test_anything_broken_or_slow_exits_1(rocm3d, python, outcome):
    interpreter = python(torch=GOOD, gsplat={"outcome": outcome, "reason": "why"})

    ended = rocm3d("smoke", "base", "gsplat", "--python", interpreter)

    assert ended.code == 1
    assert f"{outcome:11} gsplat: why" in ended.out


def test_a_named_family_of_which_nothing_ran_exits_4(rocm3d, python):
    interpreter = python(torch=GOOD)

    assert rocm3d("smoke", "base", "gsplat", "--python", interpreter).code == 4
    assert rocm3d("smoke", "base", "--python", interpreter).code == 0
    assert rocm3d("smoke", "--python", interpreter).code == 0


def test_result_as_text_and_json(rocm3d, python):
    facts = {"device": "AMD Instinct MI300X", "architecture": "gfx942", "version": "2.9.1", "hip": "6.4"}
    interpreter = python(torch={**GOOD, "facts": facts})

    words, data = (rocm3d("smoke", "base", "--python", interpreter, "--format", form) for form in ("console", "json"))

    assert words.out.splitlines() == [
        "base: torch on the device",
        "  accelerated torch: lib_C.so; 1 results agree, largest error 0.5 (float32-gemm)",
        "    AMD Instinct MI300X (gfx942), 2.9.1, HIP 6.4",
    ]
    (check,) = json.loads(data.out)["suites"][0]["looks"]
    assert (check["package"], check["outcome"], check["facts"]["hip"]) == ("torch", "accelerated", "6.4")


def test_the_real_payload_on_a_machine_without_a_gpu(rocm3d, torch_python):
    ended = rocm3d("smoke", "attention", "--python", torch_python, "--format", "json")

    checks = {check["probe"]: check["outcome"] for check in json.loads(ended.out)["suites"][0]["looks"]}
    assert ended.code == 4
    assert checks == {"sdpa": "not_run", "flash_attn": "absent", "xformers": "absent"}
