from __future__ import annotations

from dataclasses import replace

import pytest

RULE = "silent_import_fallback"
TRY = "try:\n    import torch_scatter\nexcept ImportError:\n    torch_scatter = None\n"
SAMPLE = TRY


@pytest.fixture
def known(known, make_package):
    packages = [
        make_package("torch-scatter", "torch-scatter", "keep").model_copy(update={"imports": ("torch_scatter",)}),
        make_package("kaolin", "kaolin", "stub").model_copy(update={"imports": ("kaolin",)}),
    ]
    return replace(known, packages={package.id: package for package in packages})


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 5)]


def test_message_names_the_module(findings):
    (finding,) = findings(RULE, "a.py", "try:\n    import torch_scatter\nexcept ImportError:\n    pass\n")

    assert (finding.code, finding.severity, finding.package) == ("PY104", "warning", "torch-scatter")
    assert finding.message == "a failed import of torch_scatter is swallowed; the slow path then runs silently"
