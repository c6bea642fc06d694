from __future__ import annotations

import pytest

RULE = "gpu_extra"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rembg\n",
        "rembg[cpu]\n",
        "jax\n",
        "jax[tpu]\n",
        "ray[gpu]\n",
        "# rembg[gpu]\n",
        "numpy  # rembg[gpu]\n",
        "onnxruntime-gpu\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", "numpy\n\n  rembg[gpu]>=2.0.57\n", [(3, 3)]),
        ("requirements.txt", "Rembg[cli,GPU]\r\n", [(1, 1)]),
        ("requirements.txt", "jax[cuda12-pip]\njax[cuda12]==0.4\n", [(1, 1), (2, 1)]),
        ("a.sh", 'pip install "rembg[gpu]"\n', [(1, 13)]),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow[and-cuda]"]\n', [(2, 18)]),
        ("pyproject.toml", '[tool.poetry.dependencies]\nrembg = {version = "2", extras = ["gpu"]}\n', [(2, 1)]),
    ],
)
def test_positions(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_message_names_the_extra(findings):
    (finding,) = findings(RULE, "requirements.txt", "rembg[gpu,cli]>=2\n")

    assert (finding.code, finding.severity, finding.package) == ("DEP203", "error", "rembg")
    assert finding.message == "rembg[gpu] has an extra that installs CUDA packages: onnxruntime-gpu"
