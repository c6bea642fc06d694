from __future__ import annotations

import pytest

RULE = "cuda_pin"
URL = "https://download.pytorch.org/whl/cu118/torchaudio-2.3.1%2Bcu118-cp310-cp310-linux_x86_64.whl"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "torch==2.1.0\n",
        "torch>=2.1\n",
        "torch==2.1.0+cpu\n",
        "torch==2.1.0+rocm6.4\n",
        "# torch==2.1.0+cu121\n",
        "numpy<2  # was torch==2.1.0+cu121\n",
        "spconv-cu120==2.3.6\n",
        "nvidia-cudnn-cu11==8.7.0.84\n",
        "--extra-index-url https://download.pytorch.org/whl/cu121\n",
        "-r base+cu121.txt\n",
        f"torchaudio @ {URL}\n",  # direct_wheel_url
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "a.cu", "environment.yml"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "torch==2.1.0+cu121\n") == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("setup.sh", "pip install torch==2.1.0+cu121\n", [(1, 13)]),
        ("setup.py", "setup(install_requires=['torch==2.1.0+cu121'])\n", [(1, 25 + 1)]),
        ("pyproject.toml", '[project]\ndependencies = ["torch==2.1.0+cu121"]\n', [(2, 18)]),
        ("environment.yml", "dependencies:\n  - pip:\n    - torch==2.1.0+cu121\n", [(3, 7)]),
    ],
)
def test_positions_in_other_manifests(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_lock_file_gets_a_note(findings):
    (lock,) = findings(RULE, "uv.lock", '[[package]]\nname = "torch"\nversion = "2.1.0+cu121"\n')
    assert (lock.severity, lock.line) == ("note", 2)


@pytest.mark.parametrize(
    "path",
    ["requirements.txt", "requirements-dev.txt", "requirements/base.txt", "deep/constraints.txt", "requirements.in"],
)
def test_requirements_file_names(positions, path):
    assert positions(RULE, path, "torch==2.1.0+cu121\n") == [(1, 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numpy\ntorch[opt]==2.1.0+cu121 ; python_version < '3.13'\n", [(2, 1)]),
        ("  torch == 2.1.0+cu121\n", [(1, 3)]),
        ("\ttorch==2.1.0+cu121\n", [(1, 2)]),
        ("torch-scatter==2.1.2+pt21cu121\n", [(1, 1)]),
        ("numpy\r\ntorch==2.1.0+cu121\r\n", [(2, 1)]),
        ("# größe 日本\ntorch==2.1.0+cu121\n", [(2, 1)]),
        (
            "numpy \\\n    --hash=sha256:" + "0" * 64 + "\ntorch==2.1.0+cu121 \\\n    --hash=sha256:" + "1" * 64,
            [(3, 1)],
        ),
        ("torch==2.1.0+cu121\ntorchvision==0.16.0+cu121\n", [(1, 1), (2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "requirements.txt", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "requirements.txt", b"# caf\xe9 \xff\ntorch==2.1.0+cu121\n") == [(2, 1)]


def test_message_names_distribution_and_pin(findings):
    (finding,) = findings(RULE, "requirements.txt", "torch==2.1.0+cu121\n")

    assert (finding.code, finding.message) == ("DEP101", "torch is pinned to a CUDA build (+cu121)")
    assert (finding.package, finding.family) == (None, "cleanup")


def test_finding_names_the_package(findings):
    (finding,) = findings(RULE, "requirements.txt", "torch_scatter==2.1.2+pt21cu121\n")

    assert finding.package == "torch-scatter"
    assert "+pt21cu121" in finding.message
