from __future__ import annotations

import pytest

RULE = "cuda_pin"


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "a.cu", "environment.yml"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "torch==2.1.0+cu121\n") == []


def test_message_names_distribution_and_pin(findings):
    (finding,) = findings(RULE, "requirements.txt", "torch==2.1.0+cu121\n")

    assert (finding.code, finding.message) == ("DEP101", "torch is pinned to a CUDA build (+cu121)")
    assert (finding.package, finding.family) == (None, "cleanup")


def test_finding_names_the_package(findings):
    (finding,) = findings(RULE, "requirements.txt", "torch_scatter==2.1.2+pt21cu121\n")

    assert finding.package == "torch-scatter"
    assert "+pt21cu121" in finding.message
