from __future__ import annotations

import pytest

from rocm3d.verify.resolution.answer import Edge, Resolution, Resolved
from rocm3d.verify.resolution.base import base_of
from rocm3d.verify.resolution.judge import faults, is_foreign, other_bases


@pytest.fixture
def base(knowledge, stack):
    return base_of(stack, knowledge, "linux")


@pytest.mark.parametrize(
    "name", ["numpy", "nvidia-ml-py", "cudatext", "torch", "triton", "pycuda", "focus", "barracuda"]
)
def test_other_names_are_not_of_cuda(name, knowledge):
    assert not is_foreign(name, knowledge)


@pytest.mark.parametrize(
    "name", ["nvidia-cublas-cu12", "nvidia-cublas", "cupy-cuda12x", "spconv-cu120", "cuda-toolkit", "tensorrt-cu13"]
)
def test_names_of_cuda(name, knowledge):
    assert is_foreign(name, knowledge)


def test_a_clean_resolution_has_no_fault(base, knowledge):
    packages = (Resolved("numpy", "2.0"), Resolved("torch", "2.6.0+rocm6.4.3"))

    assert faults(Resolution(packages), base, knowledge) == []


def test_the_same_torch_of_another_build_is_a_fault(base, knowledge):
    edges = (Edge("", "", "a"), Edge("a", "1", "torch"))

    found = faults(Resolution((Resolved("a", "1"), Resolved("torch", "2.6.0")), edges), base, knowledge)

    assert found == ["torch 2.6.0 is not the stack's version (a -> torch)"]


def test_edges_of_versions_that_were_given_up_are_no_chain(base, knowledge):
    packages = (Resolved("a", "1"), Resolved("b", "2"), Resolved("nvidia-nccl-cu12", "2"))
    edges = (
        Edge("", "", "a"),
        Edge("", "", "b"),
        Edge("a", "9", "nvidia-nccl-cu12"),
        Edge("b", "2", "nvidia-nccl-cu12"),
    )

    assert faults(Resolution(packages, edges), base, knowledge) == [
        "nvidia-nccl-cu12 2 is a CUDA package (b -> nvidia-nccl-cu12)"
    ]


def test_one_whose_older_release_would_do_is_not_to_blame(base):
    edges = (
        Edge("", "", "new"),
        Edge("new", "2", "torch", ">=2.10"),
        Edge("new", "1", "torch", ">=2"),
        Edge("", "", "poisoned"),
        Edge("poisoned", "1", "torch", "==2.1"),
        Edge("poisoned", "1", "torch", "==2.6.0+rocm6.4.3"),
    )

    assert other_bases(Resolution(edges=edges), base) == ["poisoned -> torch==2.1"]


def test_the_requirements_themselves_may_be_to_blame(base):
    edges = (Edge("", "", "torch", "==2.3.1"),)

    assert other_bases(Resolution(edges=edges), base) == ["the requirements -> torch==2.3.1"]


def test_ranges_with_gaps_are_understood(base):
    edges = (Edge("a", "1", "torch", "<2.1|>2.1"), Edge("b", "1", "torch", "<1|>3"))

    assert other_bases(Resolution(edges=edges), base) == ["b -> torch<1|>3"]
