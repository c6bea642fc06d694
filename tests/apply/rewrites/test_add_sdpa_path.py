from __future__ import annotations

import os
import subprocess
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.package_use import helper_functions
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.add_sdpa_path import edit
from rocm3d.knowledge.load import load
from rocm3d.syntax.isolation import prove_isolation

KNOWLEDGE = load()
REFERENCE = Path(__file__).parents[1] / "attention_reference.py"

PARAMETERS = {
    "package": "flash_attn",
    "calls": [
        "flash_attn_func",
        "flash_attn_qkvpacked_func",
        "flash_attn_varlen_func",
    ],
    "refuse_keywords": ["alibi_slopes", "return_attn_probs", "window_size"],
    "settings": ["flash_attention_2", "flash_attention_3"],
}

MODULE_LEVEL_IMPORT = "import torch\nfrom flash_attn import flash_attn_func\n"
IMPORT_IN_FUNCTION = (
    "import torch\ndef f(q):\n    from flash_attn import flash_attn_func\n    return flash_attn_func(q, q, q)\n"
)
IMPORT_IN_TRY = "import torch\ntry:\n    import flash_attn\n    HAS = True\nexcept ImportError:\n    HAS = False\n"


def edited(text: str, parameters=PARAMETERS) -> str:
    before = text.encode()
    after = edit(before, parameters)
    proof = prove_isolation("model.py", before, after)
    assert proof.holds, proof.detail
    assert edited_again(after, parameters) == after
    compile(after, "model.py", "exec")
    return after.decode()


def edited_again(data: bytes, parameters) -> bytes:
    """An import that the first edit left is refused if nothing else can be edited."""
    try:
        return edit(data, parameters)
    except RewriteRefusedError:
        return data


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (IMPORT_IN_TRY.replace("import torch\n", "") + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n", "torch"),
        (IMPORT_IN_TRY + "assert HAS\n", "nothing of the package"),
        (IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_with_kvcache(q)\n", "flash_attn_with_kvcache"),
        (IMPORT_IN_TRY + "assert HAS\nflash_attn.bert_padding.unpad(q)\n", "bert_padding"),
        (IMPORT_IN_TRY + "assert HAS\nf = getattr(flash_attn, name)\n", "cannot be followed"),
        (IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_func(q, k, v, window_size=(4, 4))\n", "window_size"),
        (
            IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_func(q, k, v, return_attn_probs=True)\n",
            "return_attn_probs",
        ),
        (IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_func(q, k, v, alibi_slopes=slopes())\n", "alibi_slopes"),
        (IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_func(q, k, v, 0.0, None, True, (1, 1))\n", "positional"),
        (
            IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\ndef _sdpa():\n    pass\n",
            "already defines",
        ),
        (
            IMPORT_IN_TRY.replace("HAS = True", "HAS = check()") + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n",
            "flags",
        ),
        (
            IMPORT_IN_TRY.replace("ImportError", "OSError") + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n",
            "flags",
        ),
        ("def f(\n# flash_attn", "does not parse"),
        ("import flash_attn\nimport torch\nflash_attn.flash_attn_func(q, k, v)\n", "torch"),
        ("import torch\nimport flash_attn\n", "nothing of the package"),
        ("import torch\nfrom flash_attn.bert_padding import pad_input\n", "more of flash_attn"),
        ("import torch\nfrom flash_attn import *\n", "more of flash_attn"),
        (MODULE_LEVEL_IMPORT + "flash_attn_func(q, k, v, window_size=(4, 4))\n", "window_size"),
        (IMPORT_IN_FUNCTION.replace("import torch\n", ""), "torch"),
        ("import torch\ndef f():\n    import flash_attn\n", "nothing of the package"),
        ("import torch\ndef f():\n    import flash_attn\n    return flash_attn\n", "cannot be followed"),
        (IMPORT_IN_FUNCTION + "flash_attn_func = None\n", "already defines flash_attn_func"),
        (IMPORT_IN_FUNCTION + "try:\n    x\nexcept E as _sdpa:\n    pass\n", "already defines _sdpa"),
        (IMPORT_IN_FUNCTION + "_torch_attention = 1\n", "already defines _torch_attention"),
        (IMPORT_IN_FUNCTION.replace("(q, q, q)", "(q, q, q, alibi_slopes=[1])"), "alibi_slopes"),
    ],
)
def test_unsupported_code_is_refused(text, reason):
    with pytest.raises(RewriteRefusedError, match=reason):
        edit(text.encode(), PARAMETERS)


@pytest.mark.parametrize(
    "text",
    [
        IMPORT_IN_TRY
        + "def f(q):\n    if HAS:\n        return flash_attn.flash_attn_func(q, q, q)\n    return eager(q)\n",
        "import torch\nif kind == 'flash':\n    import flash_attn\n",
        "import torch\nnote = 'flash_attn'\n",
        "import torch\ndef f():\n    try:\n        import flash_attn\n    except ImportError:\n        return\n",
        "import torch\ndef f():\n    with suppress(ImportError):\n        import flash_attn\n",
        "import torch\ndef f():\n    if torch.version.hip is None:\n        import flash_attn\n",
        "import torch\nclass A:\n    from flash_attn import flash_attn_func\n",
        "import torch\ndef f():\n    from .flash_attn import flash_attn_func\n",
        "import torch\ndef f():\n    import flash_attn_interface as fa3\n",
        "import torch\nif a: import flash_attn\n",
        "import torch\nload(attn_implementation='sdpa')\nload(other='flash_attention_2')\n",
    ],
)
def test_optional_imports_stay(text):
    assert edited(text) == text


def test_a_flag_that_is_asserted_is_true_with_the_fallback():
    after = edited(IMPORT_IN_TRY + "def f(q, k, v):\n    assert HAS\n    return flash_attn.flash_attn_func(q, k, v)\n")

    assert "except ImportError:\n    if torch.version.hip is not None:\n        def _sdpa(" in after
    assert "flash_attn = SimpleNamespace(flash_attn_func=flash_attn_func)\n        HAS = True\n" in after
    assert "    else:\n        HAS = False\n" in after
    assert "_sdpa_varlen" not in after


def test_a_raise_in_the_handler_stays_for_other_backends():
    text = (
        "import torch\ntry:\n  from flash_attn import flash_attn_varlen_func as attend\nexcept ImportError:\n"
        "  raise RuntimeError('install flash_attn')\n"
    )

    after = edited(text)

    assert "    attend = flash_attn_varlen_func\n  else:\n    raise RuntimeError" in after


def test_an_import_in_a_branch_gains_a_fallback():
    text = (
        "import torch\nif KIND == 'a':\n    import xformers.ops as xops\nelif KIND == 'b':\n    import flash_attn\n"
        "else:\n    raise ValueError(KIND)\nflash_attn.flash_attn_qkvpacked_func(qkv)\n"
    )

    after = edited(text)

    assert "        try:\n            import flash_attn\n        except ImportError:\n            def _sdpa(" in after
    assert "    else:\n        import flash_attn\nelse:\n    raise ValueError" in after


def test_a_module_level_import_gains_a_fallback():
    text = "import torch\n# attention\nfrom flash_attn import flash_attn_func as attend\nattend(q, k, v)\n"

    after = edited(text)

    assert after.startswith(
        "import torch\n# attention\nif torch.version.hip is not None:\n    try:\n        from flash_"
    )
    assert "    except ImportError:\n        def _sdpa(" in after
    assert "\n        attend = flash_attn_func\nelse:\n    from flash_attn import flash_attn_func as attend\n" in after


def test_an_import_in_a_function_falls_back_to_functions_of_the_module():
    after = edited(IMPORT_IN_FUNCTION.replace("def f", "# why\ndef f"))

    assert after.startswith("import torch\n\nif torch.version.hip is not None:\n    def _sdpa(")
    assert "    _torch_attention = SimpleNamespace(flash_attn_func=flash_attn_func)\n# why\ndef f(q):\n" in after
    assert after.endswith(
        """
    if torch.version.hip is not None:
        try:
            from flash_attn import flash_attn_func
        except ImportError:
            flash_attn_func = _torch_attention.flash_attn_func
    else:
        from flash_attn import flash_attn_func
    return flash_attn_func(q, q, q)
"""
    )


def test_imports_in_methods_and_branches_share_the_fallback():
    """Real code chooses by a setting, and checks globals() before the import."""
    text = """import torch
def f(qkv, kind):
    if kind == 'a':
        import xformers.ops as xops
    elif kind == 'b':
        if 'flash_attn' not in globals():
            import flash_attn
        out = flash_attn.flash_attn_qkvpacked_func(qkv)
    else:
        raise ValueError(kind)
class A:
    def g(self, q):
        from flash_attn import flash_attn_varlen_func as attend
        def h():
            try:
                import flash_attn
            finally:
                pass
            return flash_attn.flash_attn_func(q, q, q)
        return attend(q, q, q, c, c, 1, 1)
"""

    after = edited(text)

    assert after.count("def _sdpa(") == 1
    assert after.count("flash_attn = _torch_attention\n") == 2
    assert "attend = _torch_attention.flash_attn_varlen_func\n" in after
    assert after.count("    import xformers.ops as xops\n") == 1


def test_unsupported_imports_stay_if_others_can_be_edited():
    unsupported = "def g(q):\n    from flash_attn.bert_padding import unpad_input\n    return unpad_input(q)\n"

    after = edited(IMPORT_IN_FUNCTION + unsupported + "load(attn_implementation='flash_attention_2')\n")

    assert unsupported in after
    assert "_torch_attention.flash_attn_func" in after
    assert '"sdpa" if is_rocm' in after


def test_a_setting_is_edited_if_the_imports_cannot_be():
    text = "import torch\nfrom flash_attn import other\nload(attn_implementation='flash_attention_2')\n"

    assert '"sdpa" if is_rocm' in edited(text)


@pytest.mark.parametrize("import_kind", ["lazy", "firm"])
def test_the_edited_module_matches_a_float64_reference(torch_python, import_kind):
    """Runs without flash_attn, and with the guard true as in a ROCm build."""
    parameters = KNOWLEDGE.recipes["flash-attention-optional"].parameters
    calls = parameters["calls"]
    lazy = "def lazy_{0}(*given, **named):\n    from flash_attn import {0}\n    return {0}(*given, **named)\n"
    firm = f"from flash_attn import {', '.join(calls)}\n"
    text = edited("import torch\n" + (firm if import_kind == "firm" else "".join(map(lazy.format, calls))), parameters)
    text = text.replace("torch.version.hip is not None", "True")
    text += "" if import_kind == "firm" else "".join(f"{name} = lazy_{name}\n" for name in calls)
    text += cst.Module(helper_functions(["memory_efficient_attention"], [])).code

    done = subprocess.run(
        [str(torch_python), str(REFERENCE), "cpu"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["cases", "504", "72", "12"]


IMPORTS = st.sampled_from(
    [
        "import flash_attn",
        "import flash_attn as fa",
        "from flash_attn import flash_attn_func",
        "from flash_attn import flash_attn_func as attend, flash_attn_varlen_func",
        "from flash_attn.bert_padding import pad_input",
        "pass",
    ]
)
TEMPLATES = st.sampled_from(
    [
        "{}",
        "def f(q):\n    {}\n    return q",
        "class A:\n    def f(self):\n        'Doc.'\n        {}",
        "async def f(torch=None):\n    {}",
        "def f():\n    import torch\n    {}",
        "def f():\n    if a:\n        {}\n    else:\n        return 1",
        "def f():\n    try:\n        {}\n    except ImportError:\n        pass",
        "def f():\n    def g():\n        yield 1\n        {}\n    return g",
        "if a:\n    {}\nelse:\n    raise ValueError",
        "flash_attn_func(q, k, v)\nfa.flash_attn_func(q, k, v)\nx = flash_attn.flash_attn_varlen_func(q)",
        "load(attn_implementation='flash_attention_2')",
    ]
)


@given(st.lists(st.tuples(TEMPLATES, IMPORTS), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_edit_is_proven_and_idempotent(parts, newline, final):
    text = "import torch\n" + "\n".join(template.format(line) for template, line in parts) + "\n" * final
    data = text.replace("\n", newline).encode()
    try:
        after = edit(data, PARAMETERS)
    except RewriteRefusedError:
        return
    compile(after, "model.py", "exec")
    proof = prove_isolation("model.py", data, after)
    # Only the proof checks whether a function binds the name torch itself.
    assert proof.holds or "rebinds torch" in proof.detail, (proof.detail, after)
    assert edited_again(after, PARAMETERS) == after


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("load(attn_implementation='flash_attention_2')", 'attn_implementation="sdpa" if is_rocm else \'flash'),
        (
            "x = {'_attn_implementation': 'flash_attention_3'}",
            "'_attn_implementation': \"sdpa\" if is_rocm else 'flash",
        ),
    ],
)
def test_a_setting_of_transformers_names_sdpa(text, expected):
    assert expected in edited(f"import torch\n{text}\n")


def test_preserves_line_ends_and_indentation():
    text = (
        (IMPORT_IN_TRY + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n")
        .replace("    ", "  ")
        .replace("\n", "\r\n")
    )

    after = edited(text)

    assert after.count("\n") == after.count("\r\n")
    assert "  if torch.version.hip is not None:\r\n    def _sdpa(" in after
