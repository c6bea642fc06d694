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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (TEXT, [(1, 1)]),
        ("  #include <cudnn.h>\r\n", [(1, 3)]),
        ("#include <nvshmem/nvshmem.h>\n", [(1, 1)]),
        ("#ifdef WITH_OPTIX\n#include <optix.h>\n#endif\n", [(2, 1)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.cpp", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.h", b"// \xff\n" + TEXT.encode()) == [(2, 1)]


def test_message_names_what_stands_in_for_it(findings):
    (found,) = findings(RULE, "a.cu", TEXT)

    assert (found.code, found.severity) == ("CU209", "error")
    assert found.message == "nvjpeg.h is an NVIDIA library: rocJPEG has another interface"
