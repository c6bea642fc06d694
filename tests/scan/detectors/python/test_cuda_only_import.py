from __future__ import annotations

from dataclasses import replace

import pytest

RULE = "cuda_only_import"
SAMPLE = "import gsplat\n"


@pytest.fixture
def known(known, make_package):
    packages = [
        make_package("torch", "torch", "drop").model_copy(update={"imports": ("torch",)}),
        make_package("triton", "triton", "drop").model_copy(update={"imports": ("triton",)}),
        make_package("torchvision", "torchvision", "drop").model_copy(update={"imports": ("torchvision",)}),
        make_package("xformers", "xformers", "drop").model_copy(update={"imports": ("xformers",)}),
        make_package("gsplat", "gsplat", "keep").model_copy(update={"imports": ("gsplat",)}),
        make_package("fvdb", "fvdb", "blocked").model_copy(update={"imports": ("fvdb",)}),
        make_package("dotted", "dotted", "drop").model_copy(update={"imports": ("one.two",)}),
    ]
    return replace(known, packages={package.id: package for package in packages})


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nimport torchvision\n",
        "import triton.language as tl\n",
        "import numpy\n",
        "# import gsplat\n",
        "'import gsplat'\n",
        "import gsplat_like\n",
        "from .gsplat import f\n",
        "from . import gsplat\n",
        "try:\n    import gsplat\nexcept ImportError:\n    gsplat = None\n",
        "try:\n    import numpy\nexcept ImportError:\n    import gsplat\n",
        "if fast:\n    import gsplat\n",
        "def f():\n    import gsplat\n",
        "import torch\nif torch.version.hip is None:\n    import gsplat\n",
        "import cuda\n",
        "from numba import jit\n",
        "import xformers.ops\n",
        "import\nfrom\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(1, 1)]),
        ("from gsplat import rasterization\n", [(1, 1)]),
        ("import gsplat.cuda as g\r\n", [(1, 1)]),
        ("import gsplat\nfrom gsplat import a\n", [(1, 1)]),
        ("import os\nimport gsplat, fvdb\n", [(2, 1), (2, 1)]),
        ("from one import two\n", [(1, 1)]),
        ("import one.two.three\n", [(1, 1)]),
        ("s = 'größe 日本'; import gsplat\n", [(1, 17)]),
        ("with x:\n    from gsplat import *\n", [(2, 5)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 1)]


def test_severity_depends_on_the_route(findings):
    installable, blocked = findings(RULE, "a.py", "import gsplat\nimport fvdb\n")

    assert (installable.package, installable.severity) == ("gsplat", "warning")
    assert (blocked.package, blocked.severity) == ("fvdb", "error")


def test_message_names_module_and_package(findings):
    (finding,) = findings(RULE, "a.py", "from gsplat.cuda import f\n")

    assert finding.code == "PY103"
    assert (
        finding.message == "gsplat.cuda is imported at module level; gsplat needs CUDA by default (what gsplat is for)"
    )
    assert "`rocm3d explain gsplat`" in finding.hint
