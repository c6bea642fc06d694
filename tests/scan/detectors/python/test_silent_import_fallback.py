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


@pytest.mark.parametrize(
    "text",
    [
        "import torch_scatter\n",
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
        "try:\n    import kaolin\nexcept ImportError:\n    kaolin = None\n",
        "# try:\n#     import torch_scatter\n# except ImportError:\n#     torch_scatter = None\n# \n",
        TRY + "assert torch_scatter is not None\n",
        TRY + "if torch_scatter is None:\n    raise RuntimeError\n",
        TRY + "print(torch_scatter)\n",
        "try:\n    import torch_scatter\nexcept ImportError:\n    print('no scatter')\n    torch_scatter = None\n",
        "try:\n    import torch_scatter\nexcept ImportError:\n    logger.warning('no')\n",
        "try:\n    import torch_scatter\nexcept ImportError:\n    raise\n",
        "try:\n    import torch_scatter\nexcept KeyError:\n    torch_scatter = None\n",
        "try:\n    from . import torch_scatter\nexcept ImportError:\n    pass\n",
        "try:\n    x = 1\nexcept ImportError:\n    import torch_scatter\n",
        "try:\n    import torch_scatter\nfinally:\n    pass\n",
        "try:\n    import\nexcept\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 5)]),
        ("try:\r\n    import torch_scatter\r\nexcept ImportError:\r\n    torch_scatter = None\r\n", [(2, 5)]),
        (
            "try:\n    from torch_scatter import a\n    HAS = True\nexcept (ImportError, OSError):\n    HAS = 0\n",
            [(2, 5)],
        ),
        ("try:\n    import torch_scatter\nexcept:\n    pass\n", [(2, 5)]),
        ("try:\n    import torch_scatter\nexcept Exception as e:\n    from slow import scatter\n", [(2, 5)]),
        (
            "try:\n    import torch_scatter\nexcept ModuleNotFoundError:\n    torch_scatter = None\nprint('other')\n",
            [(2, 5)],
        ),
        ("def f():\n\ttry:\n\t\timport os, torch_scatter\n\texcept ImportError:\n\t\tpass\n", [(3, 3)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 5)]


def test_message_names_the_module(findings):
    (finding,) = findings(RULE, "a.py", "try:\n    import torch_scatter\nexcept ImportError:\n    pass\n")

    assert (finding.code, finding.severity, finding.package) == ("PY104", "warning", "torch-scatter")
    assert finding.message == "a failed import of torch_scatter is swallowed; the slow path then runs silently"
