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


@pytest.mark.parametrize(
    "text",
    [
        "import gsplat\n",  # cuda_only_import
        "def f():\n    import torch, faiss, numpy\n",
        "def f():\n    from .gsplat import g\n",
        "def f():\n    import gsplat_like\n",
        "# def f(): import gsplat\n",
        "import torch\nif torch.version.hip is None:\n    import gsplat\n",
        "importlib.import_module(name)\n",
        "importlib.import_module('.gsplat', __name__)\n",
        "import_module('gsplat')\n",
        "importlib.reload('gsplat')\n",
        "importlib.import_module()\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_no_finding_inside_the_package_itself(positions):
    assert positions(RULE, "gsplat/a.py", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 5)]),
        ("try:\n    import xformers.ops\nexcept ImportError:\n    pass\n", [(2, 5)]),
        ("if fast:\n    from gsplat import f\n", [(2, 5)]),
        (SAMPLE + "def g():\n    import gsplat.x\n", [(2, 5)]),
        ("import importlib\nm = importlib.import_module('gsplat.cuda')\n", [(2, 5)]),
        ("from importlib import import_module\nm = import_module('gsplat')\n", [(2, 5)]),
        ("ok = importlib.util.find_spec('gsplat')\n", [(1, 6)]),
        ("m = __import__('gsplat')\n", [(1, 5)]),
        ("import gsplat\n" + SAMPLE, [(3, 5)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_message_names_module_and_package(findings):
    (finding,) = findings(RULE, "a.py", SAMPLE)

    assert (finding.code, finding.severity, finding.package) == ("PY105", "note", "gsplat")
    assert finding.message == "gsplat is imported on demand; gsplat needs CUDA by default (what gsplat is for)"
