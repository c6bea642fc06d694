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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "Dockerfile", text) == []


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "Dockerfile.md", "a.cu"])
def test_is_not_looked_for_in_other_files(places, path):
    assert places(RULE, path, "FROM nvidia/cuda:12.1.1\n") == []


@pytest.mark.parametrize("path", ["Dockerfile", "docker/Dockerfile.gpu", "cuda.dockerfile", "Dockerfile-cuda"])
def test_every_name_of_a_dockerfile(places, path):
    assert places(RULE, path, "FROM nvidia/cuda:12.1.1\n") == [(1, 1)]


@pytest.mark.parametrize(
    ("text", "where"),
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
def test_place(places, text, where):
    assert places(RULE, "Dockerfile", text) == where


def test_compose(findings):
    text = "services:\n  a:\n    image: nvidia/cuda:12.1.1 # x\n    runtime: nvidia\n  b:\n    image: ubuntu\n"
    found = findings(RULE, "docker-compose.yml", text)

    assert [(item.line, item.column, item.severity) for item in found] == [(3, 5, "error"), (4, 5, "warning")]


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "Dockerfile", b"# \xff\xfe\nFROM nvidia/cuda\n") == [(2, 1)]


def test_message_names_the_image(findings):
    (found,) = findings(RULE, "Dockerfile", "FROM nvidia/cuda:12.1.1\n")

    assert (found.code, found.message) == ("BLD303", "nvidia/cuda:12.1.1 needs an NVIDIA machine: the CUDA toolkit")
