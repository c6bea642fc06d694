from __future__ import annotations

import pytest

RULE = "wavefront_macro"
USE = "constexpr int kWarp = __AMDGCN_WAVEFRONT_SIZE;\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (USE, [(1, 23)]),
        (USE.replace("_SIZE", "_SIZE__"), [(1, 23)]),
        (f"#ifdef USE_ROCM\r\n{USE}#endif\r\n", [(2, 23)]),
        ("#if defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE == 64\n#endif\n", [(1, 13)]),
        (f"/* é */ {USE}", [(1, 31)]),
        ("#define W \\\n  __AMDGCN_WAVEFRONT_SIZE\n", [(2, 3)]),
        (b"// \xff\n" + USE.encode(), [(2, 23)]),
        ("int w = __AMDGCN_WAVEFRONT_SIZE", [(1, 9)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected
