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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize("path", ["a.py", "a.txt", "README.md", "CMakeLists.txt"])
def test_is_not_looked_for_in_other_files(places, path):
    assert places(RULE, path, LAUNCH) == []


@pytest.mark.parametrize("path", ["a.cu", "a.cuh", "deep/er/a.CU", "a.cpp", "a.h"])
def test_is_found_in_every_kind_of_cuda_file(places, path):
    assert places(RULE, path, LAUNCH) == [(2, 12)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (LAUNCH.replace("\n", "\r\n"), [(2, 12)]),
        ("void f() {\n\tkernel<< <g, b>> >(x);\n}\n", [(2, 8)]),
        ("void f() {\n/* größe π 日本 */ kernel<< <g, b>> >(x);\n}\n", [(2, 24)]),
        ("#if SOMETHING_ELSE\n" + LAUNCH + "#endif\n", [(3, 12)]),
        ("#if 0\n" + LAUNCH + "#else\n" + LAUNCH + "#endif\n", [(7, 12)]),
        (LAUNCH + LAUNCH, [(2, 12), (5, 12)]),
    ],
)
def test_place(places, text, where):
    """The position is that of the opening chevrons. Columns count characters, not bytes."""
    assert places(RULE, "a.cu", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cu", b"// caf\xe9 \xff\xfe\n" + LAUNCH.encode()) == [(3, 12)]


def test_finding_is_filled(findings):
    (found,) = findings(RULE, "csrc/a.cu", LAUNCH)

    assert (found.code, found.rule, found.severity, found.path) == ("CU301", RULE, "error", "csrc/a.cu")
    assert "chevrons" in found.message
    assert "<<<grid, block>>>" in found.hint
    assert found.family == "native-op"
    assert found.package is None
