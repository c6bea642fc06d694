from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.line_map import line_map

LINES = st.lists(st.sampled_from([b"a", b"b", b"#if", b""]), max_size=12)


def test_lines_of_an_unchanged_file_stay():
    assert [line_map(b"a\nb\n", b"a\nb\n")(line) for line in (1, 2, 3)] == [1, 2, 3]


def test_lines_below_an_inserted_guard_move():
    edited_line = line_map(b"x\ncall();\ny\n", b"x\n#if A\nother();\n#else\ncall();\n#endif\ny\n")

    assert [edited_line(line) for line in (1, 2, 3)] == [1, 5, 7]


def test_a_replaced_line_is_that_of_its_block_and_a_removed_one_the_next():
    assert line_map(b"x\nold\ny\n", b"x\nnew\ny\n")(2) == 2
    assert line_map(b"x\none\ntwo\nthree\ny\n", b"x\nnew\ny\n")(4) == 2
    assert line_map(b"x\nold\ny\n", b"x\ny\n")(2) == 2


@given(LINES, LINES)
def test_each_line_is_in_the_edited_file_and_equal_ones_keep_their_text(before, after):
    old, new = b"\n".join(before), b"\n".join(after)
    edited_line = line_map(old, new)
    old_lines, new_lines = old.split(b"\n"), new.split(b"\n")
    equal = {
        start + number + 1
        for tag, start, end, _, _ in difflib.SequenceMatcher(None, old_lines, new_lines).get_opcodes()
        if tag == "equal"
        for number in range(end - start)
    }

    for line in range(1, len(old_lines) + 1):
        assert 1 <= edited_line(line) <= len(new_lines)
        assert line not in equal or old_lines[line - 1] == new_lines[edited_line(line) - 1]
