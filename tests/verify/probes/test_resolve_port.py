"""The port's requirements with a real resolver and an index of tiny wheels."""

from __future__ import annotations

import pytest

from rocm3d.verify.probes import resolve_port
from rocm3d.verify.probes.resolve_port import probe
from rocm3d.verify.resolution import session

RESOLVERS = pytest.mark.parametrize("resolver", ["uv", "pip"])
FILE = "rocm-port/requirements.txt"


def outcomes(verdicts):
    return [(item.outcome, item.probe) for item in verdicts]


@RESOLVERS
def test_another_torch_fails_with_the_dependency_chain(index, ported, resolver):
    index.wheel("middle", "1.0", "poisoned>=1")
    index.wheel("poisoned", "1.0", "torch==2.1")
    index.wheel("torch", "2.1.0")

    (verdict,) = probe.attempt(ported({FILE: "middle\n"}, resolver=resolver))

    assert verdict.outcome == "failed"
    assert verdict.reason == f"{FILE}: middle -> poisoned -> torch==2.1"


@RESOLVERS
def test_a_transitive_cuda_package_fails_with_the_dependency_chain(index, ported, resolver):
    index.wheel("top", "1.0", "inner")
    index.wheel("inner", "1.0", "nvidia-cublas-cu12")
    index.wheel("nvidia-cublas-cu12", "12.4.5.8")

    (verdict,) = probe.attempt(ported({FILE: "top\n"}, resolver=resolver))

    assert verdict.outcome == "failed"
    assert "nvidia-cublas-cu12 12.4.5.8 is a CUDA package (top -> inner -> nvidia-cublas-cu12)" in verdict.reason


@pytest.mark.parametrize("name", ["spconv-cu120", "cupy-cuda12x", "cuda-bindings", "nvidia-nccl-cu13"])
def test_every_cuda_package_pattern_fails(index, ported, name):
    index.wheel(name, "1.0")

    assert probe.attempt(ported({FILE: f"{name}\n"}))[0].outcome == "failed"


def test_another_triton_is_a_failure_where_the_stack_has_it_under_another_name(index, ported, stack):
    assert "triton" not in stack.provides
    index.wheel("kernels", "1.0", "triton>=3")
    index.wheel("triton", "3.9.0")

    (verdict,) = probe.attempt(ported({FILE: "kernels\n"}))

    assert verdict.outcome == "failed"
    assert "triton 3.9.0 would overwrite the stack's triton (kernels -> triton)" in verdict.reason


def test_uv_overrides_are_mentioned_and_the_failure_stays(index, ported):
    index.wheel("kernels", "1.0", "triton>=3")
    index.wheel("triton", "3.9.0")
    files = {FILE: "kernels\n", "rocm-port/overrides.txt": "triton ; sys_platform == 'never'\n"}

    (verdict,) = probe.attempt(ported(files))

    assert verdict.outcome == "failed"
    assert verdict.reason.endswith("with uv and rocm-port/overrides.txt it resolves")


def test_an_unknown_package_fails(index, ported):
    (verdict,) = probe.attempt(ported({FILE: "not-there\n"}))

    assert verdict.outcome == "failed"
    assert "not-there" in verdict.reason


def test_an_unreachable_index_is_not_run(ported, no_index_settings, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    (verdict,) = probe.attempt(ported({FILE: "numpy\n"}))

    assert verdict.outcome == "not_run"
    assert verdict.reason.startswith("the index http://127.0.0.1:9/simple does not respond: ")


def test_an_unreachable_url_is_not_run_and_the_others_are_resolved(index, ported):
    index.wheel("fine", "1.0", "torch>=2")

    set_verdict, excluded = probe.attempt(ported({FILE: "fine\ngit+http://127.0.0.1:9/owner/nvdiffrast\n"}))

    assert set_verdict.outcome == "passed"
    assert excluded.outcome == "not_run"
    assert excluded.reason.startswith("nvdiffrast: http://127.0.0.1:9/owner/nvdiffrast: ")


def test_a_failed_metadata_build_is_not_run_and_the_others_are_resolved(index, ported):
    index.wheel("fine", "1.0")
    backend = '[build-system]\nrequires = []\nbuild-backend = "missing"\nbackend-path = ["."]\n'
    index.sdist("builds", "1.0", metadata=False, pyproject=backend)

    set_verdict, excluded = probe.attempt(ported({FILE: "fine\nbuilds\n"}))

    assert set_verdict.outcome == "passed"
    assert excluded.outcome == "not_run"
    assert excluded.reason.startswith("builds: its metadata needs a build, which failed")


def test_without_the_resolver_it_is_not_run_with_the_hint(ported, monkeypatch, no_index_settings):
    monkeypatch.setattr(session, "find_uv", lambda: None)

    (verdict,) = probe.attempt(ported({FILE: "numpy\n"}))

    assert verdict.outcome == "not_run"
    assert "pip install uv" in verdict.reason


def test_without_a_stack_it_is_skipped(ported):
    assert outcomes(probe.attempt(ported({FILE: "numpy\n"}, base=None))) == [("skipped", "resolve_port")]


def test_without_requirements_it_is_skipped(ported, no_index_settings):
    assert outcomes(probe.attempt(ported({"a.py": "import x\n"}))) == [("skipped", "resolve_port")]


def test_too_many_sets_are_named(index, ported, monkeypatch):
    monkeypatch.setattr(resolve_port, "MAX_SETS", 1)
    index.wheel("fine", "1.0")
    files = {FILE: "fine\n", "rocm-port/requirements-more.txt": "fine\n"}

    first, second = probe.attempt(ported(files))

    assert (first.outcome, second.outcome) == ("passed", "not_run")


@RESOLVERS
def test_a_clean_set_passes_and_lists_the_unchanged_base(index, ported, resolver):
    index.wheel("fine", "1.0", "torch>=2", "torchvision", "torchaudio")

    (verdict,) = probe.attempt(ported({FILE: "fine\n"}, resolver=resolver))

    assert verdict.outcome == "passed"
    assert verdict.looked_at[0].startswith(
        f"{FILE}: 1 package, 0.0 MB, none of CUDA, in addition to the stack, by {resolver} "
    )
    assert any("torch 2.6.0+rocm6.4.3" in line for line in verdict.looked_at)


def test_kept_requirements_of_other_files_are_resolved_too(index, ported, make_decision):
    index.wheel("kept", "1.0", "torch==1.0")
    index.wheel("dropped", "1.0")
    setup = "from setuptools import setup\nsetup(install_requires=['kept', 'dropped'])\n"
    decisions = [make_decision("kept"), make_decision("dropped", "drop")]

    (verdict,) = probe.attempt(ported({"setup.py": setup}, decisions))

    assert verdict.outcome == "failed"
    assert verdict.reason == "setup.py (lines that the plan keeps): kept -> torch==1.0"


def test_a_transitive_package_with_a_record_is_named(index, ported):
    index.wheel("top", "1.0", "bitsandbytes", "nvidia-ml-py")
    index.wheel("bitsandbytes", "0.50")
    index.wheel("nvidia-ml-py", "12.0")

    (verdict,) = probe.attempt(ported({FILE: "top\n"}))

    assert verdict.outcome == "passed"
    assert "transitive dependencies that default to CUDA: bitsandbytes, nvidia-ml-py" in verdict.looked_at
