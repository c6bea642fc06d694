from __future__ import annotations

import pytest

RULE = "wavefront_macro"
USE = "constexpr int kWarp = __AMDGCN_WAVEFRONT_SIZE;\n"


@pytest.mark.parametrize(
    "text",
    [
        USE.replace("__AMDGCN_WAVEFRONT_SIZE", "MY__AMDGCN_WAVEFRONT_SIZE"),
        f"// {USE}",
        f"/* {USE} */\n",
        'const char* s = "__AMDGCN_WAVEFRONT_SIZE";\n',
        f"#if 0\n{USE}#endif\n",
        f"#ifndef USE_ROCM\n{USE}#endif\n",
        "#if defined(__GFX9__) || __AMDGCN_WAVEFRONT_SIZE == 64\n#endif\n",
        f"#if defined(__gfx942__)\nint w = 64;\n#else\n{USE}#endif\n",
        f"#define __AMDGCN_WAVEFRONT_SIZE 64\n{USE}",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", USE) == []


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


def test_message_names_the_macro(findings):
    (finding,) = findings(RULE, "a.cu", USE)

    assert finding.code == "CU110"
    assert finding.message.startswith("__AMDGCN_WAVEFRONT_SIZE is no longer defined")
