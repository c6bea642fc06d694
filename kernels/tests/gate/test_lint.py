from __future__ import annotations

import pytest
from gate import lint


@pytest.mark.parametrize(
    ("text", "fault"),
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
def test_a_fault_is_seen(text, fault):
    (found,) = lint.of_source(text)

    assert found.startswith("1: ")
    assert fault in found


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
def test_what_is_right_is_not(text):
    assert [] == list(lint.of_source(text))


def test_deep_pipelines_are_faults_where_amd_reads_them():
    table = (
        '{"default": {"k": {"num_stages": 3}}, "gfx942": {"k": {"num_stages": 4}}, "sm_90": {"k": {"num_stages": 5}}}'
    )

    assert [text.split(", k")[0] for text in lint.of_table(table)] == ["1: default", "1: gfx942"]


def test_our_own_kernels_have_none():
    assert [] == lint.problems()
