from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cmake_fold import CMakeFoldError, commands, fold_cmake
from rocm3d.syntax.isolation import prove_isolation


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
def test_unfoldable_files_are_rejected(text, reason):
    with pytest.raises(CMakeFoldError, match=reason):
        fold_cmake(text.encode())
    assert not prove_isolation("CMakeLists.txt", text.encode(), text.encode() + b"a()\n").holds


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
def test_other_conditions_are_unchanged(text):
    assert fold_cmake(text.encode()) == text.encode()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_guard_is_removed_and_else_is_retained(newline):
    text = "a()\n  IF (USE_ROCM)\n b()\n if(X)\n c()\n else()\n endif()\n else()\n  d()\n endif(USE_ROCM)\ne()\n"
    retained = text.replace("\n", newline).encode().replace(b"endif(USE_ROCM)", b"endif()")
    assert fold_cmake(retained) == f"a(){newline}  d(){newline}e(){newline}".encode()


def test_a_guard_inside_another_block_and_another_guard():
    inner = b"if(USE_ROCM)\nb()\nelse()\nc()\nendif()\n"
    text = b"if(X)\nif(USE_ROCM)\nif(USE_ROCM)\na()\nendif()\nelse()\n" + inner + b"endif()\nendif()"
    assert fold_cmake(text) == b"if(X)\nc()\nendif()"


def test_other_changes_are_detected():
    before, after = b"a(x)\n", b"if(USE_ROCM)\nb()\nelse()\na(y)\nendif()\n"
    assert not prove_isolation("x.cmake", before, after).holds
    assert prove_isolation("x.cmake", b"a(y)\n", after).holds
    assert prove_isolation("sub/CMakeLists.txt", b"a(y)\n", after).holds


def test_commands_with_offsets_and_arguments():
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
def test_any_text_terminates(parts, tail):
    data = "\n".join(parts).encode() + tail
    try:
        once = fold_cmake(data)
    except CMakeFoldError:
        return
    assert fold_cmake(once) == once
