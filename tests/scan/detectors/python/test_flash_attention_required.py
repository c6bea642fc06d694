from __future__ import annotations

RULE = "flash_attention_required"
TRY = "import torch\ntry:\n    import flash_attn\n    HAS = True\nexcept ImportError:\n    HAS = False\n"


def test_message_names_the_flag(findings):
    (finding,) = findings(RULE, "a.py", TRY + "assert HAS\n")

    assert finding.code == "PY101"
    assert finding.message == "the program stops unless flash attention is installed (HAS)"
    assert (finding.family, finding.recipe) == ("attention", "flash-attention-optional")
