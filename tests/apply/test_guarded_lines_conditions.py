from __future__ import annotations

import pytest

from rocm3d.apply.guarded_lines import extend_conditions
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.isolation import prove_isolation


def extended(text: str) -> str:
    return extend_conditions(text.encode(), lambda entry: "OLD" in entry.argument, "defined(NEW)").decode()


@pytest.mark.parametrize("line", ["#ifdef OLD // why\n", "#if OLD /* why */\n", "#if OLD && \\\n  X\n"])
def test_comments_and_continued_lines_are_refused(line):
    with pytest.raises(RewriteRefusedError, match="by hand"):
        extended(line + "#endif\n")


@pytest.mark.parametrize(
    "text",
    [
        "#if OTHER\n#endif\n",
        "#ifdef USE_ROCM\n#ifdef OLD\n#endif\n#endif\n",
        "#ifndef USE_ROCM\n#ifdef OLD\n#endif\n#endif\n",
        "// #ifdef OLD\n",
        "#if 0\n#ifdef OLD\n#endif\n#endif\n",
    ],
)
def test_other_conditions_stay_unchanged(text):
    assert extended(text) == text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#ifdef OLD", "#if defined(OLD) || defined(NEW)"),
        ("#ifndef OLD", "#if !defined(OLD) && !defined(NEW)"),
        ("  #  if OLD > 3", "  #if OLD > 3 || defined(NEW)"),
        ("#if OLD && X", "#if (OLD && X) || defined(NEW)"),
        ("#if OLD || X", "#if OLD || X || defined(NEW)"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_conditions_accept_more(line, expected, newline):
    assert extended(f"{line}{newline}x{newline}#endif{newline}") == f"{expected}{newline}x{newline}#endif{newline}"


@pytest.mark.parametrize("line", ["#ifdef OLD", "#ifndef OLD", "#if defined(OLD)", "#if OLD && X", "#if OLD >= 600"])
def test_isolation_proof_holds(line):
    before = f"{line}\nx\n#else\ny\n#endif\n".encode()

    after = extend_conditions(before, lambda item: True, "defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)")

    assert after != before
    assert prove_isolation("x.cu", before, after).holds
    assert (
        extend_conditions(
            after, lambda item: "OLD" in item.argument and "ROCM" not in item.argument, "defined(USE_ROCM)"
        )
        == after
    )
