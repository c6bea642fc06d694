from __future__ import annotations

import pytest

RULE = "cuda_only_package"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "numpy\n",
        "flash-attn-like\n",
        "flash\n",
        "# flash-attn\n",
        "numpy  # for flash-attn\n",
        "-r flash-attn.txt\n",
        "--find-links https://example.org/flash-attn\n",
        "nvidia-cudnn-cu12\n",
        "rembg\n",
        "rembg[gpu]\n",  # gpu_extra
        "torch\ntorchvision\ntriton\n",  # torch_unpinned_pull
        "torchmetrics\ntorchdiffeq\ntritonclient\n",
        "--index-url https://download.pytorch.org/whl/rocm6.4\nxformers\n",
        "gsplat @ git+https://github.com/ROCm/gsplat.git\n",
        "https://host/xformers-1-cp310-cp310-linux_x86_64.whl\n",  # direct_wheel_url
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "a.cu"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "flash-attn\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flash-attn>=2.5\n", [(1, 1)]),
        ("Flash_Attn==2.5 ; python_version > '3.8'\n", [(1, 1)]),
        ("numpy\n\n  onnxruntime-gpu\n", [(3, 3)]),
        ("\tgsplat\n", [(1, 2)]),
        ("numpy\r\ngsplat\r\n", [(2, 1)]),
        ("# größe 日本\ngsplat\n", [(2, 1)]),
        ("git+https://github.com/NVlabs/nvdiffrast/\n", [(1, 1)]),
        ("git+https://github.com/NVlabs/nvdiffrast.git@v0.3.1\n", [(1, 1)]),
        ("nvdiffrast @ git+https://github.com/NVlabs/nvdiffrast.git\n", [(1, 1)]),
        ("nvidia_cublas_cu11==11.11.3.6\n", [(1, 1)]),
        ("gsplat\ngsplat\n", [(1, 1), (2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "requirements.txt", text) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.sh", "pip install -U gsplat && pip install /tmp/nvdiffrast\n", [(1, 16), (1, 38)]),
        ("setup.py", "R = ['gsplat']\nsetup(install_requires=R + ['flash-attn'])\n", [(1, 7), (2, 30)]),
        ("setup.cfg", "[options]\ninstall_requires =\n  gsplat\n", [(3, 3)]),
        ("pyproject.toml", '[project]\ndependencies = ["gsplat"]\n', [(2, 18)]),
        ("environment.yml", "dependencies:\n  - pip:\n    - gsplat\n", [(3, 7)]),
        ("environment.yml", "dependencies:\n  - gsplat\n", []),  # conda_cuda
        ("a.sh", "pip install xformers --index-url https://host/whl/rocm6.1\n", []),
        ("a.sh", "pip uninstall gsplat\npip install -r gsplat.txt\necho pip install gsplat\n", []),
    ],
)
def test_positions_in_other_manifests(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_readme_gets_a_note(findings):
    (finding,) = findings(RULE, "README.md", "```bash\npip install gsplat\n```\n")
    assert (finding.severity, finding.line, finding.column) == ("note", 2, 13)


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "requirements.txt", b"# \xff\xfe\ngsplat\n") == [(2, 1)]


def test_message_and_hint_name_the_distribution(findings):
    (finding,) = findings(RULE, "requirements.txt", "flash_attn\n")

    assert finding.code == "DEP201"
    assert finding.message == "flash_attn installs a CUDA build by default (what flash-attn is for)"
    assert "`rocm3d explain flash_attn`" in finding.hint
    assert (finding.package, finding.family) == ("flash-attn", "cleanup")
