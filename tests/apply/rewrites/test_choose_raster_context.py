from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_raster_context import edit

PARAMETERS = {"old": "RasterizeGLContext", "new": "RasterizeCudaContext", "keeps": ["device"]}

TOP = "import nvdiffrast.torch as dr\nimport torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "c = dr.RasterizeCudaContext()",
        "c = dr.RasterizeGLContext() if gl else dr.RasterizeCudaContext()",
        "if torch.version.hip is None:\n    c = dr.RasterizeGLContext()",
        "name = 'RasterizeGLContext'",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "c = RasterizeGLContext()",
        "c = dr.RasterizeGLContext(output_db=False)",
        "c = dr.RasterizeGLContext(False)",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c = dr.RasterizeGLContext()", "c = dr.RasterizeCudaContext() if is_rocm else dr.RasterizeGLContext()"),
        (
            "c = dr.RasterizeGLContext(device=d).x",
            "c = (dr.RasterizeCudaContext(device=d) if is_rocm else dr.RasterizeGLContext(device=d)).x",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\nc = dr.RasterizeGLContext()\n", PARAMETERS)
