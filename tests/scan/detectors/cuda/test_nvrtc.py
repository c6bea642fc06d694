from __future__ import annotations

import pytest

RULE = "nvrtc"
SAMPLE = "void f() { nvrtcCompileProgram(prog, 0, nullptr); }\n"


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", SAMPLE) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_no_finding_in_code_of_one_backend(positions, guard):
    assert positions(RULE, "a.cu", f"{guard}\n{SAMPLE}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_no_finding_in_comments_and_strings(positions, text):
    assert positions(RULE, "a.cu", text.format(SAMPLE.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    "text",
    [
        "#include <hip/hiprtc.h>\n",
        "void f() { hiprtcCompileProgram(prog, 0, nullptr); }\n",
        "void f() { cuModuleUnload(mod); my::nvrtcCompileProgram(p); }\n",
        '#include "my_nvrtc.h"\n',
    ],
)
def test_no_finding_for_other_calls(positions, text):
    assert positions(RULE, "a.cpp", text) == []


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (SAMPLE, "nvrtcCompileProgram", (1, 12)),
        ("void f() {\n  ::cuModuleLoadData(&mod, ptx);\n}\n", "cuModuleLoadData", (2, 3)),
        ("#include <nvrtc.h>\n", "nvrtc.h", (1, 1)),
        ('#include "third_party/jitify.hpp"\n', "third_party/jitify.hpp", (1, 1)),
        ("#include <nvrtc.h>\n" + SAMPLE + SAMPLE, "nvrtcCompileProgram", (2, 12)),
    ],
)
def test_position_and_message(findings, text, name, expected):
    (finding,) = findings(RULE, "a.cpp", text)

    assert (finding.line, finding.column) == expected
    assert finding.message.startswith(f"{name} compiles or loads PTX at run time;")
