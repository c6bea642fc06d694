from __future__ import annotations

import pytest

from rocm3d.apply.rewrite import Refuse
from rocm3d.apply.rewrites.add_sdpa_path import edit
from rocm3d.syntax.isolation import prove

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

TRIED = "import torch\ntry:\n    import flash_attn\n    HAS = True\nexcept ImportError:\n    HAS = False\n"


def edited(text: str) -> str:
    before = text.encode()
    after = edit(before, PARAMETERS)
    assert prove("model.py", before, after).holds
    assert edit(after, PARAMETERS) == after
    compile(after, "model.py", "exec")
    return after.decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TRIED.replace("import torch\n", "") + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n", "torch"),
        (TRIED + "assert HAS\n", "nothing of the package"),
        (TRIED + "assert HAS\nflash_attn.flash_attn_with_kvcache(q)\n", "flash_attn_with_kvcache"),
        (TRIED + "assert HAS\nflash_attn.bert_padding.unpad(q)\n", "bert_padding"),
        (TRIED + "assert HAS\nf = getattr(flash_attn, name)\n", "cannot be followed"),
        (TRIED + "assert HAS\nflash_attn.flash_attn_func(q, k, v, window_size=(4, 4))\n", "window_size"),
        (TRIED + "assert HAS\nflash_attn.flash_attn_func(q, k, v, return_attn_probs=True)\n", "return_attn_probs"),
        (TRIED + "assert HAS\nflash_attn.flash_attn_func(q, k, v, alibi_slopes=slopes())\n", "alibi_slopes"),
        (TRIED + "assert HAS\nflash_attn.flash_attn_func(q, k, v, 0.0, None, True, (1, 1))\n", "positional"),
        (TRIED + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\ndef _sdpa():\n    pass\n", "of its own"),
        (TRIED.replace("HAS = True", "HAS = check()") + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n", "flags"),
        (TRIED.replace("ImportError", "OSError") + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n", "flags"),
        ("def f(\n# flash_attn", "does not parse"),
    ],
)
def test_what_is_not_understood_is_refused(text, reason):
    with pytest.raises(Refuse, match=reason):
        edit(text.encode(), PARAMETERS)


@pytest.mark.parametrize(
    "text",
    [
        TRIED + "def f(q):\n    if HAS:\n        return flash_attn.flash_attn_func(q, q, q)\n    return eager(q)\n",
        "import torch\nimport flash_attn\nflash_attn.flash_attn_func(q, k, v)\n",
        "import torch\nif kind == 'flash':\n    import flash_attn\n",
        "import torch\nnote = 'flash_attn'\n",
        "import torch\ndef f():\n    import flash_attn\n",
        "import torch\nload(attn_implementation='sdpa')\nload(other='flash_attention_2')\n",
    ],
)
def test_what_does_not_stop_the_program_stays(text):
    assert edited(text) == text


def test_an_assert_on_a_flag_finds_the_functions_of_torch():
    after = edited(TRIED + "def f(q, k, v):\n    assert HAS\n    return flash_attn.flash_attn_func(q, k, v)\n")

    assert "except ImportError:\n    if torch.version.hip is not None:\n        def _sdpa(" in after
    assert "flash_attn = SimpleNamespace(flash_attn_func=flash_attn_func)\n        HAS = True\n" in after
    assert "    else:\n        HAS = False\n" in after
    assert "_sdpa_varlen" not in after


def test_a_raise_in_the_handler_is_for_others_only():
    text = (
        "import torch\ntry:\n  from flash_attn import flash_attn_varlen_func as attend\nexcept ImportError:\n"
        "  raise RuntimeError('install flash_attn')\n"
    )

    after = edited(text)

    assert "    attend = flash_attn_varlen_func\n  else:\n    raise RuntimeError" in after


def test_a_choice_that_ends_in_an_error_gains_another_way():
    text = (
        "import torch\nif KIND == 'a':\n    import xformers.ops as xops\nelif KIND == 'b':\n    import flash_attn\n"
        "else:\n    raise ValueError(KIND)\nflash_attn.flash_attn_qkvpacked_func(qkv)\n"
    )

    after = edited(text)

    assert "        try:\n            import flash_attn\n        except ImportError:\n            def _sdpa(" in after
    assert "    else:\n        import flash_attn\nelse:\n    raise ValueError" in after


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("load(attn_implementation='flash_attention_2')", 'attn_implementation="sdpa" if is_rocm else \'flash'),
        (
            "x = {'_attn_implementation': 'flash_attention_3'}",
            "'_attn_implementation': \"sdpa\" if is_rocm else 'flash",
        ),
    ],
)
def test_a_setting_of_transformers_names_sdpa(text, wanted):
    assert wanted in edited(f"import torch\n{text}\n")


def test_line_ends_and_indents_of_the_file_are_kept():
    text = (TRIED + "assert HAS\nflash_attn.flash_attn_func(q, k, v)\n").replace("    ", "  ").replace("\n", "\r\n")

    after = edited(text)

    assert after.count("\n") == after.count("\r\n")
    assert "  if torch.version.hip is not None:\r\n    def _sdpa(" in after
