from __future__ import annotations

import pytest

RULE = "cuda_home_gate"
IMPORT = "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME, CUDAExtension\n"


@pytest.mark.parametrize("path", ["setup.cu", "setup.txt", "requirements.txt"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, IMPORT + "if CUDA_HOME is None:\n    pass\n") == []


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + IMPORT.encode() + b"if CUDA_HOME is None:\n    pass\n"

    assert positions(RULE, "setup.py", text) == [(5, 4)]


def test_message_quotes_the_gate(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + "if CUDA_HOME is not None:\n    pass\n")

    assert finding.code == "BLD201"
    assert "`CUDA_HOME is not None`" in finding.message
    assert finding.recipe == "cuda-home-gate-accepts-rocm"
