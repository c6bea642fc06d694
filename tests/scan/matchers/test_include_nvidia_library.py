from __future__ import annotations

import pytest

RULE = "nvidia_library"
TEXT = "#include <nvjpeg.h>\n"


@pytest.mark.parametrize(
    "text",
    [
        "#include <cublas_v2.h>\n#include <cufft.h>\n#include <curand_kernel.h>\n#include <cusparse.h>\n",
        "#include <my_nvjpeg.h>\n",
        "#include <nvjpeg.hpp>\n",
        '#include "./optix.h"\n',
        f"// {TEXT}",
        'const char* s = "nvjpeg.h";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "#include HEADER\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(1, 1)]),
        ("  #include <cudnn.h>\r\n", [(1, 3)]),
        ("#include <nvshmem/nvshmem.h>\n", [(1, 1)]),
        ("#ifdef WITH_OPTIX\n#include <optix.h>\n#endif\n", [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cpp", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.h", b"// \xff\n" + TEXT.encode()) == [(2, 1)]


def test_message_names_the_replacement(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU209", "error")
    assert finding.message == "nvjpeg.h is an NVIDIA library: rocJPEG has another interface"
