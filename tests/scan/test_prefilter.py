"""Prefilters. Every detector test checks that its prefilter rejects no file with a match (see conftest.py)."""

from __future__ import annotations

import pytest

from rocm3d.scan.detector import DetectorContext
from rocm3d.scan.prefilter import (
    contains_dotted_name,
    contains_launch,
    contains_term,
    contains_text,
    imports_any,
    imports_term,
)
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit


@pytest.fixture
def make_context(known):
    def make(*terms: str, own: tuple[str, ...] = ()):
        code = known.codes["CU201"].model_copy(update={"terms": dict.fromkeys(terms, "why")})
        return DetectorContext(code, known, own_packages=frozenset(own))

    return make


def cuda(text: str) -> CudaUnit:
    return CudaUnit("a.cu", text.encode())


def python(text: str, path: str = "a.py") -> PythonUnit:
    return PythonUnit(path, text.encode())


def test_no_terms(make_context):
    assert not contains_term(cuda("x"), make_context())
    assert not contains_dotted_name(python("import a"), make_context())


def test_contains_term(make_context):
    assert not contains_term(cuda("cuda_ run.h"), make_context("cuda_run.h"))
    assert contains_term(cuda("// cuda_run.h"), make_context("cuda_run.h", "other"))


@pytest.mark.parametrize("text", ["std::cuda", "cuda std", "cuda:std", "cudaX::std", "#include <cuda/std/x>"])
def test_no_qualified_name(text):
    assert not contains_text(text.encode(), b"cuda::std::")


@pytest.mark.parametrize("text", ["cuda::std::a", "cuda :: std\n:: a", "my::cuda::std::b"])
def test_spaces_around_a_qualified_name_do_not_matter(text):
    assert contains_text(text.encode(), b"cuda::std::")


def test_other_text_is_searched_as_it_is_written():
    assert contains_text(b"#include <cuda/std/x>", b"cuda/std/")
    assert not contains_text(b"cuda / std /", b"cuda/std/")


@pytest.mark.parametrize("text", ["torch.version", "import torch\nversion(cuda)", "torch.cuda.version"])
def test_no_dotted_name(make_context, text):
    assert not contains_dotted_name(python(text), make_context("torch.version.cuda"))


@pytest.mark.parametrize(
    "text",
    [
        "torch.version.cuda",
        "(torch.version\n .cuda)",
        "import torch.version as v\nv.cuda",
        "from torch import version as v\nv.cuda",
        "from torch.version import cuda as c\nc",
        "from torch import (\n  version)\nversion.cuda",
    ],
)
def test_contains_dotted_name(make_context, text):
    assert contains_dotted_name(python(text), make_context("torch.version.cuda"))


def test_imports_term(make_context):
    assert not imports_term(python("pynvml = 1"), make_context("pynvml"))
    assert imports_term(python("try: import pynvml\nexcept: pass"), make_context("pynvml"))


@pytest.mark.parametrize("text", ["a << b << c", "std::cout << x;", "a<b> < c", "template <template <class> class T>"])
def test_no_launch(make_context, text):
    assert not contains_launch(cuda(text), make_context())


@pytest.mark.parametrize("text", ["k<<<1, 1>>>();", "k<< <1, 1>> >();", "k< <<1>>>();", "k<</* grid */<1>>>();"])
def test_contains_launch(make_context, text):
    assert contains_launch(cuda(text), make_context())


def test_import_inside_its_own_package():
    assert not imports_any(python("import gsplat.cuda", "gsplat/a.py"), frozenset({b"gsplat"}))
    assert imports_any(python("import gsplat.cuda", "tests/a.py"), frozenset({b"gsplat"}))
    assert imports_any(python("import gsplat, spconv", "gsplat/a.py"), frozenset({b"gsplat", b"spconv"}))
