from __future__ import annotations

import pytest


@pytest.fixture
def script(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "beside.py").write_text("word = 'beside'\n")
    (tmp_path / "deep" / "script.py").write_text(
        "import sys, subprocess, beside, simple_knn\n"
        "child = 'import simple_knn; print(simple_knn.__rocm3d__)'\n"
        "print(__name__, sys.argv, beside.word, flush=True)\n"
        "subprocess.run([sys.executable, '-c', child], check=True)\n"
        "sys.exit(5 if 'five' in sys.argv else 0)\n"
    )
    return "deep/script.py"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["run"], "needs a script"),
        (["run", "-m"], "needs a script"),
        (["run", "nothing.py"], "nothing.py: no such file"),
        (["run", "--only", "torch", "x.py"], "has no drop-in for torch"),
    ],
)
def test_wrong_usage_is_one_line(python, arguments, text):
    error = python("", "-m", "rocm3d_kernels", *arguments, fails=True)

    assert text in error
    assert "Traceback" not in error


@pytest.mark.stand_ins
def test_a_script_runs_as_python_would_run_it_and_so_do_its_children(python, script):
    lines = python("", "-m", "rocm3d_kernels", "run", script, "--force", "x").splitlines()

    assert lines[0] == f"__main__ ['{script}', '--force', 'x'] beside"
    assert lines[1].startswith("rocm3d-kernels ")


@pytest.mark.stand_ins
def test_its_exit_code_is_ours(python, script):
    assert "instead of the CUDA package" in python("", "-m", "rocm3d_kernels", "run", script, "five", fails=True)


@pytest.mark.stand_ins
def test_a_module_runs_too(python, tmp_path):
    (tmp_path / "tool.py").write_text("import fused_ssim, sys; print(fused_ssim.is_3D_supported, sys.argv[1:])\n")

    assert python("", "-m", "rocm3d_kernels", "run", "-m", "tool", "a") == "False ['a']"


def test_the_variables_can_be_printed(python):
    output = python("", "-m", "rocm3d_kernels", "env", "--force", "--only", "simple_knn")

    assert "export ROCM3D_DROPIN=force,simple_knn" in output
    assert "startup" in output


def test_names_are_listed(python):
    assert {"fused_ssim", "simple_knn", "simple_knn._C"} <= set(python("", "-m", "rocm3d_kernels", "list").split())
