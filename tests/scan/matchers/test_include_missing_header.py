from __future__ import annotations

import pytest

RULE = "missing_header"
INCLUDE = "#include <device_launch_parameters.h>\n"


@pytest.mark.parametrize(
    "text",
    [
        "#include <cuda_runtime.h>\n",
        "#include <my/device_launch_parameters.h>\n",
        "#include <device_launch_parameters.hpp>\n",
        f"// {INCLUDE}",
        f"/*\n{INCLUDE}*/\n",
        'const char* note = "#include <device_functions.h>";\n',
        f'const char* note = R"(\n{INCLUDE})";\n',
        f"#if 0\n{INCLUDE}#endif\n",
        f"#ifndef USE_ROCM\n{INCLUDE}#endif\n",
        f"#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)\n#else\n{INCLUDE}#endif\n",
        f"#if !defined(__HIP_PLATFORM_AMD__)\n{INCLUDE}#endif\n",
        f"#ifndef __HIPCC__\n#ifdef X\n{INCLUDE}#endif\n#endif\n",
        "#include HEADER\n",
        "#include\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", INCLUDE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (INCLUDE, [(1, 1)]),
        ('#include "device_launch_parameters.h"\n', [(1, 1)]),
        ("  #  include <device_functions.h>\n", [(1, 3)]),
        ("\t#include <device_functions.h>\n", [(1, 2)]),
        ("/* größe */ #include <device_functions.h>\n", [(1, 13)]),
        ("#pragma once\r\n#include <sm_30_intrinsics.h>\r\n", [(2, 1)]),
        ("#include <sm_60_atomic_functions.h>", [(1, 1)]),
        (f"#ifdef WITH_CUDA\n{INCLUDE}#endif\n", [(2, 1)]),
        (f"#if 1\n{INCLUDE}#endif\n", [(2, 1)]),
        (f"#ifndef USE_ROCM\n#endif\n{INCLUDE}", [(3, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.h", b"// \xff\xc3\n" + INCLUDE.encode()) == [(2, 1)]


def test_message_names_header_and_reason(findings):
    (finding,) = findings(RULE, "a.cpp", INCLUDE)

    assert finding.code == "CU201"
    assert (
        finding.message == "device_launch_parameters.h is not part of HIP: threadIdx and related variables are built in"
    )
    assert finding.recipe == "toolkit-header-guarded"
