from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.chains import Surroundings, chains, decided

TEXT = b"#ifdef A\nint a;\n  #elif B > 2\nint b;\n#else\nint c;\n#endif\nint d;\n"


def test_what_is_not_closed_is_no_chain():
    assert chains(b"#ifdef A\n#else\n") == []
    assert chains(b"#else\n#endif\n") == []
    assert chains(b"// #if A\n// #endif\n") == []


def test_branches_with_their_conditions_and_bytes():
    (chain,) = chains(TEXT)

    assert [branch.text for branch in chain.branches] == ["defined(A)", "B > 2", "1"]
    assert [TEXT[b.body : b.end] for b in chain.branches] == [b"int a;\n", b"int b;\n", b"int c;\n"]
    assert [TEXT[b.at :][:4] for b in chain.branches] == [b"#ifd", b"#eli", b"#els"]
    assert TEXT[chain.end :] == b"int d;\n"
    assert chain.has_else
    assert chain.branches[0].macros == {"A"}


def test_nested_chains_come_in_the_order_of_their_opening():
    outer, inner = chains(b"#ifndef A\n#if B\n#endif\n#endif\n")

    assert (outer.branches[0].text, inner.branches[0].text) == ("!defined(A)", "B")
    assert not outer.has_else


@pytest.mark.parametrize(
    ("condition", "knows"),
    [("defined(USE_ROCM)", True), ("__HIP_DEVICE_COMPILE__", True), ("defined(USE_CUDA)", False), ("HIPPO", False)],
)
def test_knows_hip(condition, knows):
    (chain,) = chains(f"#if A\n#elif {condition}\n#endif\n".encode())

    assert chain.knows_hip is knows


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("M >= 5", True), ("M > 5", False), ("M == 5", True), ("M != 5", False), ("M <= 4", False), ("M < 6", True),
        ("4 < M", True), ("5 >= M", True), ("6 <= M", False), ("M >= 5u", True), ("OTHER >= 5", None),
        ("defined(M) && M >= 5", True), ("defined(M) && OTHER", None), ("!defined(M) || OTHER > 1", None),
        ("defined(N)", False), ("defined N || M > 9", False), ("", None),
    ],
)  # fmt: skip
def test_decided(text, value):
    assert decided(text, {"M": True, "N": False}, {"M": 5}) is value


@pytest.mark.parametrize(
    ("opening", "seen"),
    [
        ("#ifdef USE_ROCM", True), ("#ifndef USE_ROCM", False), ("#if 0", False), ("#if FAST", True),
        ("#ifdef USE_ROCM\n#else", False), ("#if 1\n#else", False), ("#ifndef USE_ROCM\n#else", True),
    ],
)  # fmt: skip
def test_seen_by_rocm(opening, seen):
    data = f"{opening}\nint a;\n#endif\n".encode()

    assert Surroundings.of(data).seen_by_rocm(data.index(b"int a")) is seen


@pytest.mark.parametrize(
    ("opening", "chosen"),
    [
        ("#ifdef __GFX9__", True), ("#if defined(__gfx942__)", True), ("#ifdef __GFX11__\n#else", True),
        ("#ifdef USE_ROCM", False), ("#if FAST\n#else", False),
    ],
)  # fmt: skip
def test_chosen_by_target(opening, chosen):
    data = f"{opening}\nint a;\n#endif\nint b;\n".encode()
    around = Surroundings.of(data)

    assert around.chosen_by_target(data.index(b"int a")) is chosen
    assert not around.chosen_by_target(data.index(b"int b"))


LINES = st.sampled_from(
    ["#if A", "#ifdef", "#ifndef B", "#elif C > 1", "#else", "#endif", "int a;", "/*", "*/", '"', "\\"]
)


@given(st.lists(LINES))
def test_any_order_of_lines_gives_branches_that_lie_in_order_inside_the_text(lines):
    data = "\n".join(lines).encode()
    around = Surroundings.of(data)

    for chain in around.chains:
        places = [place for b in chain.branches for place in (b.start, b.at, b.body, b.end)]
        assert [b.start for b in chain.branches] == sorted(b.start for b in chain.branches)
        assert all(b.start <= b.at < b.body <= b.end <= chain.end for b in chain.branches)
        assert max(places) <= len(data)
    for offset in range(len(data)):
        assert around.seen_by_rocm(offset) in (True, False)
