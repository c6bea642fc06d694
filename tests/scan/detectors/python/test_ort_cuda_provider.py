from __future__ import annotations

import pytest

RULE = "ort_cuda_provider"
FOUND = "s = ort.InferenceSession(p, providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])\n"


@pytest.mark.parametrize(
    "text",
    [
        "p = ['CPUExecutionProvider']\n",
        "# 'CUDAExecutionProvider'\n",
        "'CUDAExecutionProvider'\n",
        "note = 'use CUDAExecutionProvider'\n",
        "if 'CUDAExecutionProvider' in ort.get_available_providers():\n    pass\n",
        "p = ['MIGraphXExecutionProvider', 'CUDAExecutionProvider']\n",
        "import torch\nif torch.version.hip is None:\n    p = ['CUDAExecutionProvider']\n",
        "p = ['CUDAExecutionProvider\n",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(1, 40)]),
        ("p = [\n    'TensorrtExecutionProvider',\n    'CUDAExecutionProvider',\n]\n", [(2, 5)]),
        ("assert 'CUDAExecutionProvider' in s.get_providers()\r\n", [(1, 8)]),
        ("s = 'größe 日本'; p = 'ROCMExecutionProvider'\n", [(1, 21)]),
        ("p = ['CUDAExecutionProvider']\nq = [('CUDAExecutionProvider', {})]\n", [(1, 6), (2, 7)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(3, 40)]


def test_message_names_the_provider(findings):
    (found,) = findings(RULE, "a.py", "p = ['ROCMExecutionProvider']\n")

    assert (found.code, found.severity) == ("PY403", "warning")
    assert found.message == "the session requests ROCMExecutionProvider: removed in onnxruntime 1.23"
