from __future__ import annotations

import pytest

RULE = "conda_cuda"


def environment(*rows: str) -> str:
    return "dependencies:\n" + "".join(f"  - {row}\n" for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        "",
        environment("python=3.10", "numpy<2", "libcurl", "cudf-like", "torchmetrics", "rembg"),
        environment("pip:\n    - torch==2.1+cu121"),
        "# - cudatoolkit=11.8\n" + environment("numpy  # cudatoolkit"),
        "channels:\n  - pytorch\n  - conda-forge\n  - nvidia-like\n  - pygments\n",
        "name: cudatoolkit\nprefix: /nvidia\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "environment.yml", text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("config.yml", environment("cudatoolkit")),
        ("a.sh", "pip install cudatoolkit nvidia\necho conda install cudatoolkit\n"),
        ("a.sh", "conda activate cuda\nconda remove cudatoolkit\n"),
    ],
)
def test_other_manifests_are_not_searched(positions, path, text):
    assert positions(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("environment.yml", environment("cudatoolkit=11.8  # why", "numpy", "pytorch-cuda=12.1"), [(2, 5), (4, 5)]),
        (
            "environment.yaml",
            environment("pytorch=2.0.1=py3.9_cuda11.8_cudnn8_0", "pytorch-mutex=1.0=cuda"),
            [(2, 5), (3, 5)],
        ),
        ("environment.yml", environment("nvidia/label/cuda-12.1.1::cuda-nvcc"), [(2, 5)]),
        ("environment.yml", environment("libcublas-dev=11=0", "cuda-cudart=11.8.89=0"), [(2, 5), (3, 5)]),
        ("environment.yml", environment("flash-attn"), [(2, 5)]),
        ("environment.yml", "channels:\n  - nvidia\n  - nvidia/label/cuda-12\n", [(2, 5), (3, 5)]),
        ("a.sh", "conda install -y pytorch-cuda=11.8 -c nvidia\n", [(1, 18), (1, 36)]),
        ("a.sh", "mamba create -n x cuda -c conda-forge\n", [(1, 19)]),
        ("environment.yml", "dependencies: [cudatoolkit]\r\n", [(1, 16)]),
    ],
)
def test_positions(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "environment.yml", "# größe\n".encode("latin-1") + environment("cudatoolkit").encode()) == [
        (3, 5)
    ]


def test_messages(findings):
    text = "channels:\n  - nvidia\n" + environment("pytorch-cuda=11.8")
    channel, package = findings(RULE, "environment.yml", text)

    assert (channel.code, channel.severity) == ("DEP105", "error")
    assert channel.message == "the conda environment requires nvidia: NVIDIA's channel"
    assert package.message == "the conda environment requires pytorch-cuda: selects a CUDA torch"


def test_readme_gets_a_note(findings):
    results = findings(RULE, "README.md", "```\nconda install cudatoolkit -c nvidia\n```\n")
    assert [finding.severity for finding in results] == ["note", "note"]
