from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.verify.backends.suites import run_suites, select_suites


@pytest.mark.parametrize("name", ["nothing", "kaolin", ""])
def test_a_name_without_a_backend_check_is_refused(knowledge, name):
    with pytest.raises(UserError, match="no suite or package with a backend check"):
        select_suites([name], knowledge)


def test_without_names_every_suite_the_base_first(knowledge):
    selected = select_suites([], knowledge)

    assert [name for name, _, _ in selected] == list(knowledge.suites)
    assert selected[0][0] == "base"
    assert {"gsplat", "pytorch3d", "pyg", "spconv", "attention", "differentiable-rendering", "rocm3d-kernels"} <= {
        name for name, _, _ in selected
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
    ((_, _, questions),) = select_suites([name], knowledge)

    assert [question.probe for question in questions] == probes


def test_every_check_runs_and_reports_progress(knowledge, fixed_response):
    progress_messages = []
    kernels = ["Memcpy HtoD (Pageable -> Device)"]
    checks = [{"name": "c", "agrees": True}]
    environment = fixed_response(evidence="library", kernels=kernels, checks=checks)

    (suite,) = run_suites(select_suites(["spconv"], knowledge), environment, knowledge, progress_messages.append)

    assert progress_messages == ["spconv"]
    assert (suite.suite, suite.looks[0].outcome) == ("spconv", "fallback")
