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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        ("requirements.txt", "numpy\n\n  rembg[gpu]>=2.0.57\n", [(3, 3)]),
        ("requirements.txt", "Rembg[cli,GPU]\r\n", [(1, 1)]),
        ("requirements.txt", "jax[cuda12-pip]\njax[cuda12]==0.4\n", [(1, 1), (2, 1)]),
        ("a.sh", 'pip install "rembg[gpu]"\n', [(1, 13)]),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow[and-cuda]"]\n', [(2, 18)]),
        ("pyproject.toml", '[tool.poetry.dependencies]\nrembg = {version = "2", extras = ["gpu"]}\n', [(2, 1)]),
    ],
)
def test_place(places, path, text, where):
    assert places(RULE, path, text) == where


def test_message_names_the_extra(findings):
    (found,) = findings(RULE, "requirements.txt", "rembg[gpu,cli]>=2\n")

    assert (found.code, found.severity, found.package) == ("DEP203", "error", "rembg")
    assert found.message == "rembg[gpu] has an extra that installs CUDA packages: onnxruntime-gpu"
