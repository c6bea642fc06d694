from __future__ import annotations

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "startup"
PROGRAM = """
import json, torch
from rocm3d_hook_attention import Attention
attention = Attention()
attention.watch(torch)
F = torch.nn.functional
{body}
print(json.dumps(attention.summary()))
"""


@pytest.fixture
def run_watched(torch_output, tmp_path):
    """Runs a program with watched attention; returns its output. Keywords are modules that it can import."""

    def run(body: str, **modules: str) -> str:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        return torch_output(PROGRAM.format(body=body), FOLDER, tmp_path)

    return run


def test_a_call_that_is_wrong_raises_what_torch_raises(run_watched):
    body = """
try:
    F.scaled_dot_product_attention(torch.ones(1), 2, 3)
except TypeError:
    print("raised")
"""
    text = run_watched(body)

    assert text.splitlines() == ["raised", "[]"]


def test_nested_tensors_and_proxies_are_passed_to_torch(run_watched):
    """Nested tensors, and proxies of a tracer."""
    body = """
import torch.fx, warnings
warnings.simplefilter("ignore")
nested = torch.nested.nested_tensor([torch.randn(2, 3, 8), torch.randn(2, 5, 8)])
assert F.scaled_dot_product_attention(nested, nested, nested).is_nested

class Module(torch.nn.Module):
    def forward(self, q):
        return F.scaled_dot_product_attention(q, q, q)

print([node.op for node in torch.fx.symbolic_trace(Module()).graph.nodes])
"""
    text = run_watched(body)

    assert text.splitlines() == ["['placeholder', 'call_function', 'output']", "[]"]


def test_scripting_tracing_and_pickling_work(run_watched):
    body = """
import pickle, warnings
from scripted import Module
from torch.fx.experimental.proxy_tensor import make_fx
warnings.simplefilter("ignore")
q = torch.randn(1, 2, 4, 8)
assert torch.jit.script(Module())(q).shape == q.shape
assert pickle.loads(pickle.dumps(F.scaled_dot_product_attention)) is F.scaled_dot_product_attention
nodes = make_fx(lambda x: F.scaled_dot_product_attention(x, x, x))(q).graph.nodes
print([node.name for node in nodes if "choice" in node.name])
"""
    scripted = """
import torch
class Module(torch.nn.Module):
    def forward(self, q: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
"""
    text = run_watched(body, scripted=scripted)

    assert text.splitlines() == ["[]", "[]"]


def test_calls_are_counted_by_device_and_dtype(run_watched):
    body = """
q = torch.randn(1, 2, 16, 8)
for kind in (torch.float32, torch.float64):
    got = F.scaled_dot_product_attention(q.to(kind), q.to(kind), q.to(kind), is_causal=True)
    assert got.dtype == kind and got.shape == q.shape
compiled = torch.compile(lambda x: F.scaled_dot_product_attention(x, x, x), backend="eager", fullgraph=True)
assert torch.allclose(compiled(q), F.scaled_dot_product_attention(q, q, q))
"""
    text = run_watched(body)

    counted = json.loads(text)
    assert {(entry["device"], entry["dtype"]) for entry in counted} == {("cpu", "float32"), ("cpu", "float64")}
    assert sum(entry["calls"] for entry in counted) == 3  # compiled calls are not counted
