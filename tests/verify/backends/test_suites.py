from __future__ import annotations

import pytest

from rocm3d.model.failure import UserError
from rocm3d.verify.backends.suites import chosen, looked


@pytest.mark.parametrize("name", ["nothing", "kaolin", ""])
def test_a_name_that_nothing_can_be_looked_at_by_is_refused(knowledge, name):
    with pytest.raises(UserError, match="no suite or package with a backend check"):
        chosen([name], knowledge)


def test_without_names_every_suite_the_base_first(knowledge):
    found = chosen([], knowledge)

    assert [name for name, _, _ in found] == list(knowledge.suites)
    assert found[0][0] == "base"
    assert {"gsplat", "pytorch3d", "pyg", "spconv", "attention", "differentiable-rendering", "rocm3d-kernels"} <= {
        name for name, _, _ in found
    }


@pytest.mark.parametrize(
    ("name", "probes"),
    [
        ("PyG", ["torch_scatter", "torch_cluster", "torch_sparse"]),
        ("differentiable rendering", ["nvdiffrast"]),
        ("attention", ["sdpa", "flash_attn", "xformers"]),
        ("torch-scatter", ["torch_scatter"]),
        ("rocm3d_kernels", ["rocm3d_kernels"]),
    ],
)
def test_suites_and_packages_by_name(knowledge, name, probes):
    ((_, _, questions),) = chosen([name], knowledge)

    assert [question.probe for question in questions] == probes


def test_every_look_is_judged_and_told(knowledge, answering):
    told = []
    kernels = ["Memcpy HtoD (Pageable -> Device)"]
    checks = [{"name": "c", "agrees": True}]
    environment = answering(evidence="library", kernels=kernels, checks=checks)

    (suite,) = looked(chosen(["spconv"], knowledge), environment, knowledge, told.append)

    assert told == ["spconv"]
    assert (suite.suite, suite.looks[0].outcome) == ("spconv", "fallback")
