from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cmake_fold import UnfoldableCMake, commands, folded
from rocm3d.syntax.isolation import prove


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("project(a\n", "no closing parenthesis"),
        ("project a\n", "line 1 is not a CMake command"),
        ('message("open)\n', "no closing parenthesis"),
        ("else()\n", "without if"),
        ("if(USE_ROCM)\n", "without endif"),
        ("if(USE_ROCM)\nelseif(X)\nendif()\n", "elseif"),
        ("set(USE_ROCM ON)\n", "uses USE_ROCM outside"),
        ('option(USE_ROCM "x" OFF)\n', "uses USE_ROCM outside"),
        ("if(USE_ROCM) a() endif()\n", "other code on the line"),
        ("if(USE_ROCM) # why\nendif()\n", "other code on the line"),
    ],
)
def test_what_cannot_be_judged_is_refused(text, reason):
    with pytest.raises(UnfoldableCMake, match=reason):
        folded(text.encode())
    assert not prove("CMakeLists.txt", text.encode(), text.encode() + b"a()\n").holds


@pytest.mark.parametrize(
    "text",
    [
        "if(NOT USE_ROCM)\na()\nendif()\n",
        "if(X)\na()\nelseif(USE_ROCM)\nb()\nelse()\nendif()\n",
        "# if(USE_ROCM)\n#[[ if(USE_ROCM)\n]]\n",
        'message("if(USE_ROCM)\n" [=[ endif() ]] ]=])\n',
        'message(\\" \\( x)\n',
    ],
)
def test_what_is_no_guard_stays(text):
    assert folded(text.encode()) == text.encode()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_guard_is_left_out_and_its_else_is_kept(newline):
    text = "a()\n  IF (USE_ROCM)\n b()\n if(X)\n c()\n else()\n endif()\n else()\n  d()\n endif(USE_ROCM)\ne()\n"
    kept = text.replace("\n", newline).encode().replace(b"endif(USE_ROCM)", b"endif()")
    assert folded(kept) == f"a(){newline}  d(){newline}e(){newline}".encode()


def test_a_guard_inside_another_block_and_another_guard():
    inner = b"if(USE_ROCM)\nb()\nelse()\nc()\nendif()\n"
    text = b"if(X)\nif(USE_ROCM)\nif(USE_ROCM)\na()\nendif()\nelse()\n" + inner + b"endif()\nendif()"
    assert folded(text) == b"if(X)\nc()\nendif()"


def test_any_other_change_is_seen():
    before, after = b"a(x)\n", b"if(USE_ROCM)\nb()\nelse()\na(y)\nendif()\n"
    assert not prove("x.cmake", before, after).holds
    assert prove("x.cmake", b"a(y)\n", after).holds
    assert prove("sub/CMakeLists.txt", b"a(y)\n", after).holds


def test_commands_have_their_places_and_arguments():
    data = b'  Project(a "b c" ${D} [[e]] (f)) # g\nh()'
    first, second = commands(data)
    assert first.name == b"project"
    assert first.arguments == (b"a", b'"b c"', b"${D}", b"[[e]]", b"(", b"f", b")")
    assert data[first.start : first.end] == b'Project(a "b c" ${D} [[e]] (f))'
    assert data[second.start : second.end] == b"h()"


lines = st.sampled_from(
    ["if(USE_ROCM)", "if(X)", "else()", "elseif(Y)", "endif()", "a(b)", "  c()", "# d", "set(E", ")", 'f("', '")', ""]
)


@given(st.lists(lines, max_size=12), st.binary(max_size=20))
def test_it_ends_with_an_answer_on_anything(parts, tail):
    data = "\n".join(parts).encode() + tail
    try:
        once = folded(data)
    except UnfoldableCMake:
        return
    assert folded(once) == once
