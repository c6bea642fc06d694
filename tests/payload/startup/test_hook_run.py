from __future__ import annotations

import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "startup"


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


def test_disabled_hook_writes_no_events(tmp_path):
    report = tmp_path / "report.jsonl"
    env = {"PYTHONPATH": str(FOLDER), "ROCM3D_RECORD": str(report)}
    ended = subprocess.run([sys.executable, "-c", "import json"], env=env, capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert not report.exists()


def test_process_and_libraries_are_reported(run_with_hooks):
    _, lines = run_with_hooks("import ctypes")

    (process,) = of_kind(lines, "process")
    assert process["argv"][1] == "-c"
    assert process["executable"] == sys.executable
    (status,) = of_kind(lines, "status")
    assert status["pid"] == process["pid"]
    assert any("_ctypes" in path for path in status["libraries"])


def test_child_process_is_reported(run_with_hooks):
    _, lines = run_with_hooks("import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'])")

    assert len(of_kind(lines, "process")) == 2


def test_loaded_module_is_reported(run_with_hooks, tmp_path):
    _, lines = run_with_hooks("import gsplat", "gsplat", gsplat="__version__ = '1.5.3'\n__rocm3d__ = 'rocm3d-kernels'")

    (module,) = of_kind(lines, "module")
    assert module == {
        "kind": "module",
        "name": "gsplat",
        "file": str(tmp_path / "gsplat.py"),
        "version": "1.5.3",
        "stands_in": "rocm3d-kernels",
    }


def test_failed_import_is_reported_with_its_line(run_with_hooks, tmp_path):
    importer = "\ntry:\n    import nobody_has_this\nexcept ImportError:\n    pass\n"
    _, lines = run_with_hooks("import asks", "nobody_has_this", asks=importer)

    (missed,) = of_kind(lines, "missed")
    assert (missed["name"], missed["file"], missed["line"]) == ("nobody_has_this", str(tmp_path / "asks.py"), 3)


def test_failed_find_spec_is_reported_as_missed(run_with_hooks, tmp_path):
    importer = "import importlib.util\nfound = importlib.util.find_spec('nobody_has_this')\n"
    _, lines = run_with_hooks("import asks", "nobody_has_this", asks=importer)

    (missed,) = of_kind(lines, "missed")
    assert (missed["file"], missed["line"]) == (str(tmp_path / "asks.py"), 2)


def test_torch_build_attention_and_steps_are_reported(run_with_hooks, torch_python):
    program = """
import torch, torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.randn(1, 2, 16, 8)
layer = torch.nn.Linear(8, 8)
steps = torch.optim.SGD(layer.parameters(), 0.1)
for _ in range(3):
    layer(F.scaled_dot_product_attention(q, q, q)).sum().backward()
    steps.step()
with sdpa_kernel(SDPBackend.MATH):
    F.scaled_dot_product_attention(q, q, q)
"""
    _, lines = run_with_hooks(program, "torch", python=torch_python, profile=True)

    last = of_kind(lines, "status")[-1]
    assert last["torch"].startswith("2.")
    assert "gpu" not in last
    assert last["loops"]["optimizer"]["count"] == 3
    assert {entry["way"]: entry["calls"] for entry in last["attention"]} == {"flash": 3, "math": 1}
    assert of_kind(lines, "kernels") == []


def test_triton_kernels_are_reported_by_name(run_with_hooks, tmp_path):
    compiler_folder = tmp_path / "triton" / "compiler"
    compiler_folder.mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").write_text("")
    (compiler_folder / "__init__.py").write_text("")
    (compiler_folder / "compiler.py").write_text(
        "class CompiledKernel:\n    def __init__(self, name):\n        self.name = name\n"
    )
    _, lines = run_with_hooks(
        "from triton.compiler.compiler import CompiledKernel as K; K('scale_rows'); K('scale_rows')"
    )

    assert of_kind(lines, "status")[-1]["triton"] == ["scale_rows"]


@pytest.mark.parametrize("loads", [True, False], ids=["with a launcher", "an older Triton"])
@pytest.mark.usefixtures("hooks")
def test_sampler_gets_a_hint_when_a_new_kernel_can_run(loads):
    """The launcher of a kernel is built after the kernel; a window before that would not contain it."""
    hook_run = importlib.import_module("hook_run")

    class CompiledKernel:
        def __init__(self, name):
            self.name = name

    if loads:
        CompiledKernel._init_handles = lambda self: None
    compiled, hints = hook_run.TritonKernels(), []
    compiled.hint = lambda: hints.append(len(compiled.names))
    compiled.watch(types.SimpleNamespace(CompiledKernel=CompiledKernel))
    kernel = CompiledKernel("scale_rows")
    before = len(hints)
    for _ in range(2 if loads else 0):
        kernel._init_handles()

    assert (before, len(hints)) == ((0, 1) if loads else (1, 1))
