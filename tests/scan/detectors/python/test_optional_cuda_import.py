from __future__ import annotations

from dataclasses import replace

import pytest

RULE = "optional_cuda_import"
SAMPLE = "def f():\n    import gsplat\n"


@pytest.fixture
def known(known, make_package):
    packages = [
        make_package("torch", "torch").model_copy(update={"imports": ("torch",)}),
        make_package("faiss-gpu", "faiss-gpu").model_copy(update={"imports": ("faiss",)}),
        make_package("xformers", "xformers").model_copy(update={"imports": ("xformers",)}),
        make_package("gsplat", "gsplat").model_copy(update={"imports": ("gsplat",)}),
    ]
    return replace(known, packages={package.id: package for package in packages})


def test_message_names_module_and_package(findings):
    (finding,) = findings(RULE, "a.py", SAMPLE)

    assert (finding.code, finding.severity, finding.package) == ("PY105", "note", "gsplat")
    assert finding.message == "gsplat is imported on demand; gsplat needs CUDA by default (what gsplat is for)"
