"""What source builds ask for before they begin."""

from __future__ import annotations

import subprocess

import pytest

from rocm3d.verify.probes.resolve_builds import probe

OPEN = ("pip", "install", "--no-build-isolation", "--no-deps")
CLOSED = ("pip", "install", "--no-deps")
WANTS_TORCH = '[build-system]\nrequires = ["setuptools", "torch"]\n'
PLAIN = '[build-system]\nrequires = ["setuptools"]\n'


@pytest.fixture
def build(make_decision):
    def make(*words: str, name: str = "raster"):
        return make_decision(name, "build", commands=(words,))

    return make


def test_a_build_that_requires_torch_fails_without_the_flag(index, ported, build):
    (verdict,) = probe.attempt(ported({"ext/pyproject.toml": WANTS_TORCH}, [build(*CLOSED, "./ext")]))

    assert verdict.outcome == "failed"
    assert verdict.reason == (
        "ext: its build requires torch, but `pip install --no-deps ./ext` does not pass --no-build-isolation"
    )


def test_a_setup_that_imports_torch_fails_without_the_flag(index, ported, build):
    setup = "from torch.utils.cpp_extension import CUDAExtension\n"

    (verdict,) = probe.attempt(ported({"ext/setup.py": setup}, [build(*CLOSED, "./ext")]))

    assert verdict.outcome == "failed"
    assert "its setup.py imports torch" in verdict.reason


def test_with_the_flag_build_requirements_are_resolved_on_the_stack(index, ported, build):
    index.wheel("setuptools", "80.0")

    (verdict,) = probe.attempt(ported({"ext/pyproject.toml": WANTS_TORCH}, [build(*OPEN, "./ext")]))

    assert verdict.outcome == "passed"
    assert verdict.looked_at[0].startswith("build requirements of ext: 1 package, ")


def test_a_cuda_package_in_the_build_requirements_fails(index, ported, build):
    index.wheel("backend", "1.0", "nvidia-cuda-nvcc-cu12")
    index.wheel("nvidia-cuda-nvcc-cu12", "12.4")
    pyproject = '[build-system]\nrequires = ["backend"]\n'

    (verdict,) = probe.attempt(ported({"ext/pyproject.toml": pyproject}, [build(*OPEN, "./ext")]))

    assert verdict.outcome == "failed"
    assert "backend -> nvidia-cuda-nvcc-cu12" in verdict.reason


def test_a_missing_folder_is_not_run(index, ported, build):
    (verdict,) = probe.attempt(ported({"a.py": ""}, [build(*OPEN, "./submodules/simple-knn")]))

    assert verdict.outcome == "not_run"
    assert verdict.reason.startswith("simple-knn: submodules/simple-knn is not in the tree")


def test_an_unreachable_git_repository_is_not_run(index, ported, build):
    (verdict,) = probe.attempt(ported({}, [build(*OPEN, "git+http://127.0.0.1:9/owner/apex.git")]))

    assert verdict.outcome == "not_run"
    assert verdict.reason.startswith("apex: http://127.0.0.1:9/owner/apex.git does not respond: ")


def test_a_build_without_a_command_is_not_run(index, ported, make_decision):
    (verdict,) = probe.attempt(ported({}, [make_decision("emd", "build")]))

    assert verdict.outcome == "not_run"
    assert "build it by hand" in verdict.reason


def test_a_compiled_wheel_in_place_of_a_build_is_a_failure(index, ported, build):
    """pip takes the wheel of the default index, which is made for CUDA or for the CPU."""
    index.wheel("raster", "1.0", tag="cp312-cp312-manylinux_2_28_x86_64")

    (verdict,) = probe.attempt(ported({}, [build(*OPEN, "raster")]))

    assert verdict.outcome == "failed"
    assert "instead of building" in verdict.reason


def test_a_plain_wheel_needs_no_build(index, ported, build):
    index.wheel("raster", "1.0")

    (verdict,) = probe.attempt(ported({}, [build(*OPEN, "raster")]))

    assert (verdict.outcome, verdict.looked_at) == ("passed", ("raster: raster-1.0-py3-none-any.whl",))


def test_source_of_the_index_is_read(index, ported, build):
    index.wheel("setuptools", "80.0")
    index.sdist("raster", "1.0", pyproject=WANTS_TORCH)

    assert [item.outcome for item in probe.attempt(ported({}, [build(*CLOSED, "raster")]))] == ["failed"]
    assert [item.outcome for item in probe.attempt(ported({}, [build(*OPEN, "raster")]))] == ["passed"]


def test_transitive_source_builds_are_checked(index, ported):
    index.wheel("setuptools", "80.0")
    index.wheel("top", "1.0", "inner")
    index.sdist("inner", "1.0", pyproject=WANTS_TORCH)

    (verdict,) = probe.attempt(ported({"rocm-port/requirements.txt": "top\n"}))

    assert verdict.outcome == "failed"
    assert (
        verdict.reason
        == "inner: its build requires torch, but the requirements file does not pass --no-build-isolation"
    )


def test_transitive_source_builds_without_torch_pass(index, ported):
    index.wheel("setuptools", "80.0")
    index.sdist("inner", "1.0", pyproject=PLAIN)

    (verdict,) = probe.attempt(ported({"rocm-port/requirements.txt": "inner\n"}))

    assert verdict.outcome == "passed"


@pytest.mark.parametrize(
    ("path", "outcome"), [("rocm-port/requirements.txt", "failed"), ("requirements.txt", "passed")]
)
def test_a_git_requirement_is_built_in_isolation_only_in_the_ports_file(
    index, ported, make_decision, tmp_path, path, outcome
):
    index.wheel("setuptools", "80.0")
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "setup.py").write_text("import torch\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *identity, *words], cwd=origin, check=True)

    verdicts = probe.attempt(ported({path: f"git+{origin.as_uri()}\n"}, [make_decision("origin")]))

    assert [item.outcome for item in verdicts] == [outcome]


def test_nothing_to_build_is_skipped(index, ported):
    index.wheel("fine", "1.0")

    (verdict,) = probe.attempt(ported({"rocm-port/requirements.txt": "fine\n"}))

    assert (verdict.outcome, verdict.reason) == ("skipped", "nothing is built from source")
