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
