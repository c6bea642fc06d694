from __future__ import annotations

import pytest

RULE = "ort_cuda_provider"
SAMPLE = "s = ort.InferenceSession(p, providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])\n"


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
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(1, 40)]),
        ("p = [\n    'TensorrtExecutionProvider',\n    'CUDAExecutionProvider',\n]\n", [(2, 5)]),
        ("assert 'CUDAExecutionProvider' in s.get_providers()\r\n", [(1, 8)]),
        ("s = 'größe 日本'; p = 'ROCMExecutionProvider'\n", [(1, 21)]),
        ("p = ['CUDAExecutionProvider']\nq = [('CUDAExecutionProvider', {})]\n", [(1, 6), (2, 7)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 40)]


def test_message_names_the_provider(findings):
    (finding,) = findings(RULE, "a.py", "p = ['ROCMExecutionProvider']\n")

    assert (finding.code, finding.severity) == ("PY403", "warning")
    assert finding.message == "the session requests ROCMExecutionProvider: removed in onnxruntime 1.23"
