from __future__ import annotations

import pytest
from gate import lint


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = tl.dot(a, b)", "without input_precision"),
        ("x = tl.dot(a, b, allow_tf32=True)", "without input_precision"),
        ("x = tl.dot(a, b, input_precision='tf32')", "always uses tf32"),
        ("x = tl.inline_asm_elementwise('mov', 'r', [a], tl.int32, True, 1)", "inline assembly"),
        ("lanes = num_warps * 32", "wave size as a literal"),
        ("lane = tid % WARP_SIZE + 64 * warp", "wave size as a literal"),
        ("for i in tl.range(0, n, num_stages=4): pass", "num_stages 4"),
        ("from triton.language.extra.cuda import libdevice", "libdevice"),
    ],
)
def test_problem_is_reported(text, problem):
    (line,) = lint.source_problems(text)

    assert line.startswith("1: ")
    assert problem in line


@pytest.mark.parametrize(
    "text",
    [
        "x = tl.dot(a, b, input_precision='ieee')",
        "x = tl.dot(a, b, input_precision=PRECISION)",
        "x = tl.dot(a, b, allow_tf32=False)",
        "BLOCK = 32 * 4",
        "for i in tl.range(0, n, num_stages=2): pass",
        "from triton.language.extra import libdevice",
    ],
)
def test_correct_code_has_no_problems(text):
    assert [] == list(lint.source_problems(text))


def test_too_many_stages_are_reported_for_amd_targets():
    table = (
        '{"default": {"k": {"num_stages": 3}}, "gfx942": {"k": {"num_stages": 4}}, "sm_90": {"k": {"num_stages": 5}}}'
    )

    assert [text.split(", k")[0] for text in lint.table_problems(table)] == ["1: default", "1: gfx942"]


def test_our_kernels_have_no_problems():
    assert [] == lint.problems()
