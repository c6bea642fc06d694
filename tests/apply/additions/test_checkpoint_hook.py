from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocm3d.apply.additions.checkpoint_hook import render
from rocm3d.model.plan import UnresolvedFinding
from rocm3d.workspace.tree import Tree

REFERENCE = Path(__file__).with_name("checkpoint_reference.py")
MODEL = """
import sys
import torch

class Native(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(27, 8, 16))
        self.one = torch.nn.Linear(2, 2)

class Sparse(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.nn.Parameter(torch.zeros(8, 16))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Native(), Sparse(), torch.nn.Conv3d(8, 16, 3)

weights = {k: torch.rand_like(v) for k, v in Model().state_dict().items() if not k.startswith(("a.weight", "b."))}
weights["a.weight"] = torch.arange(16 * 27 * 8.0).reshape(16, 3, 3, 3, 8)
weights["b.weight"] = torch.arange(16 * 8.0).reshape(16, 1, 1, 1, 8)
model = Model()
model.load_state_dict(weights)
assert torch.equal(model.a.weight[5], weights["a.weight"][:, 0, 1, 2, :].T)
assert torch.equal(model.b.kernel, weights["b.weight"][:, 0, 0, 0, :].T)
assert torch.equal(model.c.weight, weights["c.weight"])
print(*sys.argv[1:])
"""
FILE = """
import sys
import torch

torch.save({"state_dict": {"a.weight": torch.ones(16, 3, 3, 3, 8), "b.bias": torch.ones(2)}}, sys.argv[1])
torch.save({"a.weight": torch.ones(4, 3, 3, 3, 3)}, sys.argv[2])
"""


@pytest.fixture
def plan_with(make_plan, make_finding):
    def make(code: str, package: str | None):
        finding = make_finding("model.py").model_copy(update={"code": code, "package": package})
        return make_plan(left=(UnresolvedFinding(finding=finding, reason="by hand"),))

    return make


@pytest.fixture
def script(tmp_path, plan_with):
    path = tmp_path / "convert_checkpoint.py"
    path.write_bytes(render(plan_with("PY405", "spconv"), Tree.open(tmp_path), "rocm-port")[f"scripts.d/{path.name}"])
    return path


def run(python, *arguments):
    command = [str(python), "-W", "ignore", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("code", "package"), [("PY404", "spconv"), ("PY405", "tinycudann"), ("PY405", None)])
def test_script_is_not_added_without_such_weights(tmp_path, plan_with, code, package):
    assert render(plan_with(code, package), Tree.open(tmp_path), "rocm-port") == {}


def test_layouts_match_dense_convolution_and_round_trip(script, torch_python):
    done = run(torch_python, REFERENCE, script)

    assert done.stdout.split() == ["kernels", "5"], done.stderr


def test_a_program_loads_converted_weights(script, tmp_path, torch_python):
    model = tmp_path / "model.py"
    model.write_text(MODEL)

    done = run(torch_python, script, "run", model, "--flag")

    assert done.stdout == "--flag\n", done.stderr
    assert "2 weights converted for Model" in done.stderr
    assert run(torch_python, model).returncode != 0


def test_a_file_is_converted_and_an_unclear_one_refused(script, tmp_path, torch_python):
    (tmp_path / "make.py").write_text(FILE)
    clear, unclear, output = tmp_path / "clear.pth", tmp_path / "unclear.pth", tmp_path / "made.pth"
    assert run(torch_python, tmp_path / "make.py", clear, unclear).returncode == 0

    done = run(torch_python, script, "convert", clear, output, "--to", "torchsparse")
    refused = run(torch_python, script, "convert", unclear, tmp_path / "no.pth", "--to", "native")

    assert done.returncode == 0, done.stderr
    show = "import sys, torch; print({k: tuple(v.shape) for k, v in torch.load(sys.argv[1])['state_dict'].items()})"
    shown = run(torch_python, "-c", show, output)
    assert shown.stdout.strip() == "{'a.kernel': (27, 8, 16), 'b.bias': (2,)}", shown.stderr
    assert "may be dense" in refused.stderr
    assert not (tmp_path / "no.pth").exists()
