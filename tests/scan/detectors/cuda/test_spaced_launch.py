from __future__ import annotations

import pytest

RULE = "spaced_launch"
LAUNCH = "void f() {\n    kernel << <grid, block >> > (x);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        "void f() { kernel<<<grid, block>>>(x); }\n",
        "void f() { kernel <<<grid, block, 0, stream>>> (x); }\n",
        "void f() { int y = a << b; bool z = c >> d > e; }\n",
        "void f() { std::vector<std::vector<std::vector<int> > > v; }\n",
        "// kernel << <grid, block >> > (x);\nvoid f();\n",
        "/* kernel << <grid, block >> > (x); */\nvoid f();\n",
        'const char* s = "kernel << <grid, block >> > (x);";\n',
        'const char* s = R"(kernel << <grid, block >> > (x);)";\n',
        f"#if 0\n{LAUNCH}#endif\n",
        f"#ifndef USE_ROCM\n{LAUNCH}#endif\n",
        f"#if defined(USE_ROCM)\nvoid f();\n#else\n{LAUNCH}#endif\n",
        f"#ifdef __HIP_PLATFORM_AMD__\n{LAUNCH}#endif\n",
        f"#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)\n{LAUNCH}#endif\n",
        "",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize("path", ["a.py", "a.txt", "README.md", "CMakeLists.txt"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, LAUNCH) == []


@pytest.mark.parametrize("path", ["a.cu", "a.cuh", "deep/er/a.CU", "a.cpp", "a.h"])
def test_every_cuda_suffix_is_searched(positions, path):
    assert positions(RULE, path, LAUNCH) == [(2, 12)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LAUNCH.replace("\n", "\r\n"), [(2, 12)]),
        ("void f() {\n\tkernel<< <g, b>> >(x);\n}\n", [(2, 8)]),
        ("void f() {\n/* größe π 日本 */ kernel<< <g, b>> >(x);\n}\n", [(2, 24)]),
        ("#if SOMETHING_ELSE\n" + LAUNCH + "#endif\n", [(3, 12)]),
        ("#if 0\n" + LAUNCH + "#else\n" + LAUNCH + "#endif\n", [(7, 12)]),
        (LAUNCH + LAUNCH, [(2, 12), (5, 12)]),
    ],
)
def test_positions(positions, text, expected):
    """The position is that of the opening chevrons. Columns count characters, not bytes."""
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// caf\xe9 \xff\xfe\n" + LAUNCH.encode()) == [(3, 12)]


def test_fields_of_the_finding(findings):
    (finding,) = findings(RULE, "csrc/a.cu", LAUNCH)

    assert (finding.code, finding.rule, finding.severity, finding.path) == ("CU301", RULE, "error", "csrc/a.cu")
    assert "chevrons" in finding.message
    assert "<<<grid, block>>>" in finding.hint
    assert finding.family == "native-op"
    assert finding.package is None
