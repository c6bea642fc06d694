from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.guards import PreprocessorContext, evaluate_condition, if_chains

TEXT = b"#ifdef A\nint a;\n  #elif B > 2\nint b;\n#else\nint c;\n#endif\nint d;\n"


def test_unclosed_chain_is_left_out():
    assert if_chains(b"#ifdef A\n#else\n") == []
    assert if_chains(b"#else\n#endif\n") == []
    assert if_chains(b"// #if A\n// #endif\n") == []


def test_branch_conditions_and_offsets():
    (chain,) = if_chains(TEXT)

    assert [branch.condition for branch in chain.branches] == ["defined(A)", "B > 2", "1"]
    assert [TEXT[b.body_start : b.end] for b in chain.branches] == [b"int a;\n", b"int b;\n", b"int c;\n"]
    assert [TEXT[b.hash_offset :][:4] for b in chain.branches] == [b"#ifd", b"#eli", b"#els"]
    assert TEXT[chain.end :] == b"int d;\n"
    assert chain.has_else
    assert chain.branches[0].macros == {"A"}


def test_nested_chains_are_ordered_by_start():
    outer, inner = if_chains(b"#ifndef A\n#if B\n#endif\n#endif\n")

    assert (outer.branches[0].condition, inner.branches[0].condition) == ("!defined(A)", "B")
    assert not outer.has_else


@pytest.mark.parametrize(
    ("condition", "knows"),
    [("defined(USE_ROCM)", True), ("__HIP_DEVICE_COMPILE__", True), ("defined(USE_CUDA)", False), ("HIPPO", False)],
)
def test_mentions_rocm(condition, knows):
    (chain,) = if_chains(f"#if A\n#elif {condition}\n#endif\n".encode())

    assert chain.mentions_rocm is knows


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("M >= 5", True), ("M > 5", False), ("M == 5", True), ("M != 5", False), ("M <= 4", False), ("M < 6", True),
        ("4 < M", True), ("5 >= M", True), ("6 <= M", False), ("M >= 5u", True), ("OTHER >= 5", None),
        ("defined(M) && M >= 5", True), ("defined(M) && OTHER", None), ("!defined(M) || OTHER > 1", None),
        ("defined(N)", False), ("defined N || M > 9", False), ("", None),
    ],
)  # fmt: skip
def test_evaluate_condition(text, value):
    assert evaluate_condition(text, {"M": True, "N": False}, {"M": 5}) is value


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("#ifdef USE_ROCM", True), ("#ifndef USE_ROCM", False), ("#if 0", False), ("#if FAST", True),
        ("#ifdef USE_ROCM\n#else", False), ("#if 1\n#else", False), ("#ifndef USE_ROCM\n#else", True),
    ],
)  # fmt: skip
def test_can_compile_for_rocm(opening, expected):
    data = f"{opening}\nint a;\n#endif\n".encode()

    assert PreprocessorContext.of(data).can_compile_for_rocm(data.index(b"int a")) is expected


@pytest.mark.parametrize(
    ("opening", "chosen"),
    [
        ("#ifdef __GFX9__", True), ("#if defined(__gfx942__)", True), ("#ifdef __GFX11__\n#else", True),
        ("#ifdef USE_ROCM", False), ("#if FAST\n#else", False),
    ],
)  # fmt: skip
def test_is_target_specific(opening, chosen):
    data = f"{opening}\nint a;\n#endif\nint b;\n".encode()
    around = PreprocessorContext.of(data)

    assert around.is_target_specific(data.index(b"int a")) is chosen
    assert not around.is_target_specific(data.index(b"int b"))


LINES = st.sampled_from(
    ["#if A", "#ifdef", "#ifndef B", "#elif C > 1", "#else", "#endif", "int a;", "/*", "*/", '"', "\\"]
)


@given(st.lists(LINES))
def test_branches_of_any_lines_are_ordered_and_inside_the_text(lines):
    data = "\n".join(lines).encode()
    around = PreprocessorContext.of(data)

    for chain in around.chains:
        places = [position for b in chain.branches for position in (b.start, b.hash_offset, b.body_start, b.end)]
        assert [b.start for b in chain.branches] == sorted(b.start for b in chain.branches)
        assert all(b.start <= b.hash_offset < b.body_start <= b.end <= chain.end for b in chain.branches)
        assert max(places) <= len(data)
    for offset in range(len(data)):
        assert around.can_compile_for_rocm(offset) in (True, False)
