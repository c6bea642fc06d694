from __future__ import annotations

import pytest

RULE = "flash_attention_required"
CHOICE = (
    "if A == 'x':\n    import xformers.ops\nelif A == 'f':\n    import flash_attn\nelse:\n    raise ValueError(A)\n"
)
TRY = "import torch\ntry:\n    import flash_attn\n    HAS = True\nexcept ImportError:\n    HAS = False\n"

PORTED = TRY.replace(
    "    HAS = False\n",
    "    if torch.version.hip is not None:\n        HAS = True\n    else:\n        HAS = False\n",
)


@pytest.mark.parametrize(
    "text",
    [
        TRY,
        TRY + "if HAS:\n    pass\n",
        TRY + "assert other\n",
        TRY + "# assert HAS\n",
        TRY + 'note = "assert HAS"\n',
        TRY + "if torch.version.hip is None:\n    assert HAS\n",
        TRY + "is_rocm = torch.version.hip is not None\nif not is_rocm:\n    assert HAS\n",
        TRY.replace("flash_attn", "kaolin") + "assert HAS\n",
        PORTED + "assert HAS\n",
        PORTED + "if not HAS:\n    raise ImportError\n",
        PORTED.replace("HAS", "flash_attn") + "assert flash_attn is not None\n",
        "HAS = True\nassert HAS\n",
        "import flash_attn\nHAS = True\nassert HAS\n",
        TRY.replace("    import flash_attn", "    import flash_attn_like") + "assert HAS\n",
        TRY + "if not other:\n    raise ImportError\n",
        TRY + "if HAS:\n    raise ImportError('one of the two')\n",
        TRY + "if HAS:\n    pass\nelse:\n    f()\n",
        TRY + "if HAS:\n    pass\nelif x:\n    raise ImportError\n",
        TRY + "if not HAS and torch.version.hip is None:\n    raise ImportError\n",
        TRY + "f(attn_implementation='sdpa')\n",
        TRY + "f(attn_implementation='flash_attention_2' if HAS else 'sdpa')\n",
        TRY + "f(backend='flash_attention_2')\n",
        TRY + "# attn_implementation='flash_attention_2'\n",
        TRY + "if x == 'flash_attention_2':\n    pass\n",
        TRY + "if torch.version.hip is None:\n    f(attn_implementation='flash_attention_2')\n",
        TRY.replace("flash_attn", "kaolin").replace("    HAS = False", "    raise"),
        CHOICE.replace("raise ValueError(A)", "pass"),
        CHOICE.partition("else:")[0],
        CHOICE.replace("import xformers.ops", "pass"),  # one branch works without a package
        CHOICE.replace("import xformers.ops", "import math"),
        CHOICE.replace("import xformers.ops", "from torch.nn.functional import linear"),
        CHOICE.replace("flash_attn", "kaolin"),
        CHOICE + "out = F.scaled_dot_product_attention(q, k, v)\n",
        "import torch\nif torch.version.hip is None:\n    " + CHOICE.replace("\n", "\n    ") + "\n",
        "if A:\n    import flash_attn\nelse:\n    raise ValueError(A)\n",  # an option that can be disabled
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_no_finding_if_the_assert_accepts_rocm(positions):
    assert positions(RULE, "a.py", TRY + "assert HAS or torch.version.hip is not None\n") == []


@pytest.mark.parametrize("path", ["a.cu", "a.txt"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, TRY + "assert HAS\n") == []


@pytest.mark.parametrize("broken", ["assert\n", "assert (\n", "assert # HAS\n", "try:\n", "try:\n    import\n"])
def test_incomplete_code_does_not_crash(positions, broken):
    assert positions(RULE, "a.py", TRY + broken) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRY + "assert HAS\n", [(7, 1)]),
        (CHOICE, [(4, 5)]),
        (CHOICE.replace("else:", "elif A == 'g':\n    from flash_attn_interface import f\nelse:"), [(4, 5)]),
        ("def sparse_scaled_dot_product_attention(q):\n    " + CHOICE.replace("\n", "\n    ") + "\n", [(5, 9)]),
        (
            CHOICE.replace("    import flash_attn", "    if 'flash_attn' not in globals():\n        import flash_attn"),
            [(5, 9)],
        ),
        (TRY + "def f():\n\tassert HAS, 'install it'\n", [(8, 2)]),
        (TRY + "s = 'größe 日本'; assert x and HAS\n", [(7, 17)]),
        (TRY.replace("\n", "\r\n") + "assert HAS\r\n", [(7, 1)]),
        (TRY.replace("import flash_attn", "from flash_attn import f") + "assert HAS\n", [(7, 1)]),
        (TRY.replace("import flash_attn", "import flash_attn_interface") + "assert HAS\n", [(7, 1)]),
        (TRY.replace("HAS = True", "HAS = flash_attn.__version__ > '2'") + "assert HAS\n", [(7, 1)]),
        ("assert HAS\n" + TRY, [(1, 1)]),
        (TRY + "    flash_attn = None\nassert flash_attn is not None\n", [(8, 1)]),
        (TRY + "if not HAS:\n    raise ImportError('install it')\n", [(8, 5)]),
        (TRY + "    flash_attn = None\nif flash_attn is None:\n    raise ImportError\n", [(9, 5)]),
        (TRY + "if HAS:\n    pass\nelse:\n    raise ImportError\n", [(10, 5)]),
        (TRY.replace("    HAS = False", "    raise ImportError('install it')"), [(6, 5)]),
        ("m = M.from_pretrained(n, attn_implementation='flash_attention_2')\n", [(1, 26)]),
        ("kwargs = {'attn_implementation': \"flash_attention_2\"}\n", [(1, 11)]),
        ("def f(attn_implementation: str = 'flash_attention_2'):\n    pass\n", [(1, 7)]),
        ("config._attn_implementation = 'flash_attention_3'\n", [(1, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.py", b"# \xff\n" + TRY.encode() + b"assert HAS\n") == [(8, 1)]


def test_message_names_the_flag(findings):
    (finding,) = findings(RULE, "a.py", TRY + "assert HAS\n")

    assert finding.code == "PY101"
    assert finding.message == "the program stops unless flash attention is installed (HAS)"
    assert (finding.family, finding.recipe) == ("attention", "flash-attention-optional")


def test_message_quotes_the_setting(findings):
    (finding,) = findings(RULE, "a.py", "f(attn_implementation='flash_attention_2')\n")

    assert "(attn_implementation='flash_attention_2')" in finding.message


def test_message_of_a_choice_names_every_package(findings):
    (finding,) = findings(RULE, "a.py", CHOICE)

    assert finding.message == "the program stops unless flash attention is installed (xformers or flash_attn)"
