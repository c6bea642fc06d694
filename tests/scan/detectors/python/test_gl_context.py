from __future__ import annotations

import pytest

RULE = "gl_context"
OS = "import os\n"
SAMPLE = "c = dr.RasterizeGLContext()\n"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n",
        "# dr.RasterizeGLContext()\n",
        "note = 'RasterizeGLContext'\n",
        "x = dr.RasterizeGLContext\n",
        "f.RasterizeContext()\n",
        OS + "os.environ['PYOPENGL_PLATFORM'] = 'osmesa'\n",
        OS + "os.environ.get('PYOPENGL_PLATFORM')\n",
        OS + "os.environ['__GLX_VENDOR_LIBRARY_NAME'] = 'mesa'\n",
        "try:\n    import pyrender\nexcept ImportError:\n    pass\n",
        "import torch\nif torch.version.hip is None:\n    c = dr.RasterizeGLContext()\n",
        "dr.RasterizeGLContext(\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(1, 5)]),
        ("c = dr.RasterizeCudaContext(device=d)\r\n", [(1, 5)]),
        (OS + "os.environ['PYOPENGL_PLATFORM'] = 'egl'\nimport pyrender\n", [(2, 1), (3, 1)]),
        (OS + "os.environ['__GLX_VENDOR_LIBRARY_NAME'] = 'nvidia'\n", [(2, 1)]),
        ("ctypes.CDLL('/usr/lib/libEGL_nvidia.so.0')\n", [(1, 13)]),
        ("s = 'größe 日本'; RasterizeGLContext()\nRasterizeGLContext()\n", [(1, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 5)]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("dr.RasterizeGLContext()\n", "warning"),
        ("dr.RasterizeCudaContext()\n", "note"),
        ("import moderngl\n", "note"),
        ("import os\nos.environ['PYOPENGL_PLATFORM'] = 'egl'\n", "note"),
        ("import os\nos.environ['__EGL_VENDOR_LIBRARY_FILENAMES'] = '/x/10_nvidia.json'\n", "warning"),
    ],
)
def test_severity_of_each_context(findings, text, severity):
    assert [finding.severity for finding in findings(RULE, "a.py", text)] == [severity]


def test_message_names_the_call(findings):
    (finding,) = findings(RULE, "a.py", "dr.RasterizeGLContext()\n")

    assert finding.code == "PY404"
    assert finding.message == "RasterizeGLContext selects the rendering backend: nvdiffrast through OpenGL"
