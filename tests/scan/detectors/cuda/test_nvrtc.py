from __future__ import annotations

import pytest

RULE = "nvrtc"
FOUND = "void f() { nvrtcCompileProgram(prog, 0, nullptr); }\n"


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", FOUND) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_is_not_found_where_one_backend_compiles(places, guard):
    assert places(RULE, "a.cu", f"{guard}\n{FOUND}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_is_not_found_in_comments_and_strings(places, text):
    assert places(RULE, "a.cu", text.format(FOUND.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_odd_bytes_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\xfe\n" + FOUND.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    "text",
    [
        "#include <hip/hiprtc.h>\n",
        "void f() { hiprtcCompileProgram(prog, 0, nullptr); }\n",
        "void f() { cuModuleUnload(mod); my::nvrtcCompileProgram(p); }\n",
        '#include "my_nvrtc.h"\n',
    ],
)
def test_other_calls_are_not_found(places, text):
    assert places(RULE, "a.cpp", text) == []


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        (FOUND, "nvrtcCompileProgram", (1, 12)),
        ("void f() {\n  ::cuModuleLoadData(&mod, ptx);\n}\n", "cuModuleLoadData", (2, 3)),
        ("#include <nvrtc.h>\n", "nvrtc.h", (1, 1)),
        ('#include "third_party/jitify.hpp"\n', "third_party/jitify.hpp", (1, 1)),
        ("#include <nvrtc.h>\n" + FOUND + FOUND, "nvrtcCompileProgram", (2, 12)),
    ],
)
def test_found(findings, text, name, where):
    (found,) = findings(RULE, "a.cpp", text)

    assert (found.line, found.column) == where
    assert found.message.startswith(f"{name} compiles or loads PTX at run time;")
