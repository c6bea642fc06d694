from __future__ import annotations

import json

PROGRAM = """
import json, torch
from rocm3d_hook_attention import Attention
seen = Attention()
seen.watch(torch)
F = torch.nn.functional
{body}
print(json.dumps(seen.told()))
"""


def test_a_call_that_is_wrong_raises_what_torch_raises(told, torch_python):
    body = """
try:
    F.scaled_dot_product_attention(torch.ones(1), 2, 3)
except TypeError:
    print("raised")
"""
    ended, _ = told(PROGRAM.format(body=body), python=torch_python)

    assert ended.stdout.splitlines() == ["raised", "[]"]


def test_what_has_no_shape_or_is_no_tensor_goes_to_torch_untouched(told, torch_python):
    """Nested tensors, and what stands for a tensor while a program is traced."""
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
    ended, _ = told(PROGRAM.format(body=body), python=torch_python)

    assert ended.stdout.splitlines() == ["['placeholder', 'call_function', 'output']", "[]"]


def test_programs_that_script_trace_or_pickle_it_see_torchs_own(told, torch_python):
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
    ended, _ = told(PROGRAM.format(body=body), python=torch_python, scripted=scripted)

    assert ended.stdout.splitlines() == ["[]", "[]"]


def test_ways_are_counted_by_device_and_type_and_results_are_torchs(told, torch_python):
    body = """
q = torch.randn(1, 2, 16, 8)
for kind in (torch.float32, torch.float64):
    got = F.scaled_dot_product_attention(q.to(kind), q.to(kind), q.to(kind), is_causal=True)
    assert got.dtype == kind and got.shape == q.shape
compiled = torch.compile(lambda x: F.scaled_dot_product_attention(x, x, x), backend="eager", fullgraph=True)
assert torch.allclose(compiled(q), F.scaled_dot_product_attention(q, q, q))
"""
    ended, _ = told(PROGRAM.format(body=body), python=torch_python)

    counted = json.loads(ended.stdout)
    assert {(item["device"], item["dtype"]) for item in counted} == {("cpu", "float32"), ("cpu", "float64")}
    assert sum(item["calls"] for item in counted) == 3  # what was compiled is not counted
