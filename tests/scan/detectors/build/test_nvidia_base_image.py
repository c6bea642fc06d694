from __future__ import annotations

import pytest

RULE = "nvidia_base_image"


@pytest.mark.parametrize(
    "text",
    [
        "FROM ubuntu:22.04\n",
        "FROM rocm/pytorch:rocm6.4_ubuntu22.04_py3.10_pytorch_release_2.6.0\n",
        "# FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n",
        "FROM ubuntu AS nvidia/cuda\n",
        "FROM my/nvidia/cuda-like\n",
        "FROM nvidia/cudaless\n",
        "FROM pytorch/pytorch-nightly-rocm\n",
        "FROM pytorch/pytorch:2.6.0-cpu\n",
        "FROM scratch\nRUN echo FROM nvidia/cuda\n",
        "ARG BASE=ubuntu\nFROM ${BASE}\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "Dockerfile", text) == []


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "Dockerfile.md", "a.cu"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "FROM nvidia/cuda:12.1.1\n") == []


@pytest.mark.parametrize("path", ["Dockerfile", "docker/Dockerfile.gpu", "cuda.dockerfile", "Dockerfile-cuda"])
def test_dockerfile_names(positions, path):
    assert positions(RULE, path, "FROM nvidia/cuda:12.1.1\n") == [(1, 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# x\nFROM nvidia/cuda:12.1.1-devel AS build\nFROM build\n", [(2, 1)]),
        ("FROM --platform=linux/amd64 nvcr.io/nvidia/pytorch:23.07-py3\n", [(1, 1)]),
        ("FROM docker.io/pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime\n", [(1, 1)]),
        ("ARG BASE=nvidia/cuda:12.1.1\nFROM ${BASE}\n", [(2, 1)]),
        ("FROM ${BASE:-nvidia/cudagl:11.3}\n", [(1, 1)]),
        ("  from nvidia/cuda\r\n", [(1, 3)]),
        ("FROM ubuntu\nCOPY --from=nvidia/cuda:12.1.1 /usr/local/cuda /c\n", [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "Dockerfile", text) == expected


def test_compose(findings):
    text = "services:\n  a:\n    image: nvidia/cuda:12.1.1 # x\n    runtime: nvidia\n  b:\n    image: ubuntu\n"
    results = findings(RULE, "docker-compose.yml", text)

    assert [(finding.line, finding.column, finding.severity) for finding in results] == [
        (3, 5, "error"),
        (4, 5, "warning"),
    ]


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "Dockerfile", b"# \xff\xfe\nFROM nvidia/cuda\n") == [(2, 1)]


def test_message_names_the_image(findings):
    (finding,) = findings(RULE, "Dockerfile", "FROM nvidia/cuda:12.1.1\n")

    assert (finding.code, finding.message) == ("BLD303", "nvidia/cuda:12.1.1 needs an NVIDIA machine: the CUDA toolkit")
