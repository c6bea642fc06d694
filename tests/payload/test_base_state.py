"""base_state.py, started by path in a folder of fake distributions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rocm3d

SCRIPT = Path(rocm3d.__file__).parent / "payload" / "base_state.py"


class Site:
    """A folder with fake distributions, on the path of an isolated interpreter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def put(self, name: str, version: str, module: str = "", *, top_level: bool = False, **files: str) -> None:
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        module = module or name.replace("-", "_")
        (info / "RECORD").write_text(f"{module}/__init__.py,,\n")
        if top_level:
            (info / "top_level.txt").write_text(f"{module}\n")
        for file, text in files.items():
            (info / file.replace("_json", ".json")).write_text(text)

    def torch(self, version: str, hip: str | None) -> None:
        self.put("torch", version)
        (self.folder / "torch").mkdir()
        (self.folder / "torch" / "version.py").write_text(f"hip = {hip!r}\n")
        (self.folder / "torch" / "__init__.py").write_text("raise RuntimeError('imported')\n")

    def run(self, *words: str) -> list[str]:
        # -S: only this folder is on sys.path, not the site-packages of the tests.
        environment = {"PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-S", str(SCRIPT), *words]
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.splitlines()


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "site")


def test_an_empty_environment_holds_nothing(site):
    assert site.run("state") == [
        "torch: none",
        "torchvision: none",
        "torchaudio: none",
        "triton: none",
        "HIP: none",
        "CUDA packages: none",
    ]


def test_modules_of_any_distribution_are_listed(site):
    site.torch("2.6.0+rocm6.4", "6.4.43484")
    site.put("pytorch-triton-rocm", "3.2.0", "triton")
    site.put("Triton", "3.9.0", "other", top_level=True)
    site.put("torchmetrics", "1.0")
    lines = site.run("state")
    assert "torch: torch==2.6.0+rocm6.4" in lines
    assert "triton: pytorch-triton-rocm==3.2.0 triton==3.9.0" in lines
    assert "HIP: 6.4.43484" in lines


@pytest.mark.parametrize(
    "name",
    [
        "nvidia-cublas-cu12",
        "nvidia-cudnn-cu11",
        "nvidia-cuda-runtime",
        "spconv-cu120",
        "cupy-cuda12x",
        "jax-cuda12-plugin",
    ],
)
def test_cuda_packages_are_recognised_by_name(site, name):
    site.put(name, "1.0")
    assert f"CUDA packages: {name}" in site.run("state")


@pytest.mark.parametrize("name", ["nvidia-ml-py", "accumulate", "cuda-free", "pycuber", "focus1", "cupy-rocm-7-0"])
def test_other_names_are_no_cuda_packages(site, name):
    site.put(name, "1.0")
    assert "CUDA packages: none" in site.run("state")


def test_changes_are_listed(site):
    before = "\n".join(site.run("state"))
    assert site.run("changes", before) == []
    site.torch("2.1.0", None)
    assert site.run("changes", before) == ["torch: none became torch==2.1.0"]


def test_constraints_pin_the_installed_base(site, tmp_path):
    site.torch("2.6.0+rocm6.4", "6.4")
    site.put("pytorch-triton-rocm", "3.2.0", "triton")
    (tmp_path / "constraints.txt").write_text(
        "# why\nnumpy<2  # x\nTorch==2.6.0\npytorch_triton_rocm==1\n-c more.txt\n-c /abs.txt\n-c https://host/x.txt\n"
    )
    assert site.run("constraints", str(tmp_path / "constraints.txt")) == [
        "# why",
        "numpy<2  # x",
        f"-c {tmp_path / 'more.txt'}",
        "-c /abs.txt",
        "-c https://host/x.txt",
        "torch==2.6.0+rocm6.4",
        "torchvision==0+not.in.the.base",
        "torchaudio==0+not.in.the.base",
        "pytorch-triton-rocm==3.2.0",
        "triton==0+comes.as.pytorch.triton.rocm",
    ]
    assert site.run("overrides", str(tmp_path / "constraints.txt"))[-1] == "triton ; sys_platform == 'never'"


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        ({"setup.py": "from setuptools import setup\n"}, ["apart", "setuptools", "wheel"]),
        ({"setup.py": "import torchvision_like\n"}, ["apart", "setuptools", "wheel"]),
        ({"setup.py": "  from torch.utils import cpp_extension\n"}, ["shared", "setuptools", "wheel"]),
        ({"pyproject.toml": "[build-system]\nrequires = ['Torch>=2', 'ninja', 'here']\n"}, ["shared", "ninja"]),
        ({"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['torch']\n"}, ["apart", "setuptools", "wheel"]),
    ],
)
def test_build_mode_and_missing_requirements(site, tmp_path, files, answer):
    site.put("here", "1.0")
    source = tmp_path / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    assert site.run("build", str(source)) == answer


def test_install_from_a_folder_is_recognised(site, tmp_path):
    site.put("x", "1.0", direct_url_json=json.dumps({"url": (tmp_path / "a b").as_uri()}))
    assert site.run("from", str(tmp_path / "a b")) == ["yes"]
    assert site.run("from", str(tmp_path / "a")) == []


def test_installed_and_missing_distributions(site):
    site.put("Some.Thing", "1.0")
    site.put("pytorch-triton-rocm", "3.2.0", "triton")
    assert site.run("there", "some-thing", "other") == ["some-thing 1.0"]
    assert site.run("lacking", "Some_Thing[x]>=2", "other==1") == ["other==1"]
    assert site.run("without", "triton", "torchaudio") == ["torchaudio"]


def test_addresses_and_versions(site, tmp_path):
    assert site.run("address", str(tmp_path / "a b")) == [(tmp_path / "a b").as_uri()]
    assert site.run("python") == [".".join(map(str, sys.version_info[:2]))]
