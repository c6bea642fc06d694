from __future__ import annotations

import pytest

RULE = "torch_unpinned_pull"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "torchmetrics\ntorchdiffeq==0.2.3\ntritonclient[http]\ntorch-scatter\npytorch-lightning\naccelerate\n",
        "torch==2.1.0+cu121\n",  # cuda_pin
        "torch==2.1.0+rocm6.4\n",
        "torch==2.1.0+cpu\n",
        "# torch\n",
        "numpy  # torch\n",
        "--index-url https://download.pytorch.org/whl/rocm6.4\ntorch\n",
        "torch @ https://host/torch-2.1.0-cp310-cp310-linux_x86_64.whl\n",
        "-r torch.txt\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.sh", "pip install torch --index-url https://download.pytorch.org/whl/rocm6.1\n"),
        ("a.sh", "pip uninstall torch\necho pip install torch\n"),
        ("pyproject.toml", '[build-system]\nrequires = ["torch"]\n'),  # build_isolation
        ("environment.yml", "dependencies:\n - torchvision\n"),  # conda_cuda
        ("a.py", "import torch\n"),
    ],
)
def test_no_finding_elsewhere(positions, path, text):
    assert positions(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", "numpy\n  Torch>=2.1\r\ntorchvision\n", [(2, 3), (3, 1)]),
        ("constraints.txt", "triton==2.3.1\n", [(1, 1)]),
        ("a.sh", "pip install torch==2.4.0 torchvision\n", [(1, 13), (1, 26)]),
        ("environment.yml", "dependencies:\n - pip:\n   - torchaudio\n", [(3, 6)]),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["!pip install torch"]}]}', [(1, 59)]),
    ],
)
def test_positions(findings, path, text, expected):
    results = findings(RULE, path, text)
    assert [(finding.line, finding.column) for finding in results] == expected
    assert {finding.severity for finding in results} == {"warning"}


@pytest.mark.parametrize(
    ("path", "text", "severity"),
    [
        ("setup.py", "setup(install_requires=['torch>=1.4'])", "note"),
        ("setup.py", "setup(install_requires=['torch==2.1'])", "warning"),
        ("setup.cfg", "[options]\ninstall_requires = torch\n", "note"),
        ("pyproject.toml", '[project]\ndependencies = ["torch>=2"]\n', "note"),
        ("pyproject.toml", '[project]\ndependencies = ["torch>=2,<2.5"]\n', "warning"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1"\n', "warning"),
        ("README.md", "```\npip install torch==2.1\n```\n", "note"),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.1.0"\n', "note"),
    ],
)
def test_lower_bound_in_metadata_is_a_note(findings, path, text, severity):
    assert [finding.severity for finding in findings(RULE, path, text)] == [severity]


def test_message_names_file_and_requirement(findings):
    (finding,) = findings(RULE, "a/requirements.txt", "torch[opt]==2.3.1 ; python_version > '3.8'\n")

    assert finding.code == "DEP202"
    assert finding.message.startswith("requirements.txt requires torch[opt]==2.3.1; pip may replace")
