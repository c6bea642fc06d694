from __future__ import annotations

import pytest

RULE = "cooperative_groups_reduce"
INCLUDE = "#include <cooperative_groups/reduce.h>\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (INCLUDE, [(1, 1)]),
        ('\r\n\t#include "cooperative_groups/reduce.h"\r\n', [(2, 2)]),
        (f"/* é */ {INCLUDE}", [(1, 9)]),
        (b"// \xff\n" + INCLUDE.encode(), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected
