from __future__ import annotations

import pytest

from rocm3d.verify.resolution.resolver import DependencyEdge, Resolution, ResolvedPackage
from rocm3d.verify.resolution.session import base_of
from rocm3d.verify.resolution.verdicts import conflicts_with_base, find_faults, is_cuda_package


@pytest.fixture
def base(knowledge, stack):
    return base_of(stack, knowledge, "linux")


@pytest.mark.parametrize(
    "name", ["numpy", "nvidia-ml-py", "cudatext", "torch", "triton", "pycuda", "focus", "barracuda"]
)
def test_other_names_are_not_cuda_packages(name, knowledge):
    assert not is_cuda_package(name, knowledge)


@pytest.mark.parametrize(
    "name", ["nvidia-cublas-cu12", "nvidia-cublas", "cupy-cuda12x", "spconv-cu120", "cuda-toolkit", "tensorrt-cu13"]
)
def test_names_of_cuda_packages(name, knowledge):
    assert is_cuda_package(name, knowledge)


def test_a_clean_resolution_has_no_fault(base, knowledge):
    packages = (ResolvedPackage("numpy", "2.0"), ResolvedPackage("torch", "2.6.0+rocm6.4.3"))

    assert find_faults(Resolution(packages), base, knowledge) == []


def test_the_same_torch_of_another_build_is_a_fault(base, knowledge):
    edges = (DependencyEdge("", "", "a"), DependencyEdge("a", "1", "torch"))

    texts = find_faults(
        Resolution((ResolvedPackage("a", "1"), ResolvedPackage("torch", "2.6.0")), edges), base, knowledge
    )

    assert texts == ["torch 2.6.0 is not the stack's version (a -> torch)"]


def test_edges_of_rejected_versions_are_not_in_the_chain(base, knowledge):
    packages = (ResolvedPackage("a", "1"), ResolvedPackage("b", "2"), ResolvedPackage("nvidia-nccl-cu12", "2"))
    edges = (
        DependencyEdge("", "", "a"),
        DependencyEdge("", "", "b"),
        DependencyEdge("a", "9", "nvidia-nccl-cu12"),
        DependencyEdge("b", "2", "nvidia-nccl-cu12"),
    )

    assert find_faults(Resolution(packages, edges), base, knowledge) == [
        "nvidia-nccl-cu12 2 is a CUDA package (b -> nvidia-nccl-cu12)"
    ]


def test_a_package_with_a_compatible_older_release_is_not_a_conflict(base):
    edges = (
        DependencyEdge("", "", "new"),
        DependencyEdge("new", "2", "torch", ">=2.10"),
        DependencyEdge("new", "1", "torch", ">=2"),
        DependencyEdge("", "", "poisoned"),
        DependencyEdge("poisoned", "1", "torch", "==2.1"),
        DependencyEdge("poisoned", "1", "torch", "==2.6.0+rocm6.4.3"),
    )

    assert conflicts_with_base(Resolution(edges=edges), base) == ["poisoned -> torch==2.1"]


def test_the_requirements_themselves_may_conflict(base):
    edges = (DependencyEdge("", "", "torch", "==2.3.1"),)

    assert conflicts_with_base(Resolution(edges=edges), base) == ["the requirements -> torch==2.3.1"]


def test_ranges_with_gaps_are_understood(base):
    edges = (DependencyEdge("a", "1", "torch", "<2.1|>2.1"), DependencyEdge("b", "1", "torch", "<1|>3"))

    assert conflicts_with_base(Resolution(edges=edges), base) == ["b -> torch<1|>3"]
