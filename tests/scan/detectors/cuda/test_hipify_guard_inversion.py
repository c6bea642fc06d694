from __future__ import annotations

import pytest

RULE = "hipify_guard_inversion"
CHAIN = "#ifdef USE_CUDA\nint a;\n#elif defined(USE_ROCM)\nint b;\n#endif\n"


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef USE_ROCM\nint a;\n#else\nint b;\n#endif\n",
        "#ifdef USE_ROCM\nint a;\n#elif defined(USE_CUDA)\nint b;\n#endif\n",
        "#ifdef USE_CUDA\nint a;\n#endif\n",
        "#if defined(USE_CUDA) || defined(USE_ROCM)\nint a;\n#endif\n",
        "#if defined(USE_CUDA) && !defined(USE_ROCM)\nint a;\n#endif\n",  # false before and after
        "#if defined(__CUDACC__) && defined(__HIP_PLATFORM_AMD__)\nint a;\n#endif\n",  # counts on the translation
        "#if defined(USE_CUDA) && X\nint a;\n#elif defined(USE_ROCM)\nint b;\n#endif\n",  # not known
        CHAIN.replace("USE_CUDA", "WITH_CUDA"),
        "// " + CHAIN.splitlines()[0] + "\n",
        f"/*\n{CHAIN}*/\n",
        f"#if 0\nint x;\n{CHAIN}int y;\n#endif\n",
        "#ifdef USE_CUDA\n#elif defined(USE_ROCM)\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", CHAIN) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHAIN, [(1, 1)]),
        ("int x;\r\n" + CHAIN.replace("\n", "\r\n"), [(2, 1)]),
        (CHAIN.replace("USE_CUDA", "__CUDACC__").replace("USE_ROCM", "__HIPCC__"), [(1, 1)]),
        ("int x;\n#if !defined(USE_CUDA) && defined(USE_ROCM)\nint a;\n#endif\n", [(2, 1)]),
        ("#ifndef X_H\n" + CHAIN + "#endif\n", [(2, 1)]),
        (b"// \xff\n" + CHAIN.encode(), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_message_shows_the_condition(findings):
    (finding,) = findings(RULE, "a.h", CHAIN)

    assert finding.code == "CU505"
    assert finding.message.startswith("defined(USE_CUDA) distinguishes CUDA from ROCm;")
