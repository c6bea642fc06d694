"""Prefilters. Every detector test checks that its prefilter rejects no file with a match (see conftest.py)."""

from __future__ import annotations

import pytest

from rocm3d.scan.detector import Look
from rocm3d.scan.needs import (
    a_dotted_name,
    a_first_word,
    a_known_import,
    a_launch,
    a_launch_pulled_apart,
    a_qualified_name,
    a_term,
    an_imported_term,
    imports_others,
    known_modules,
)
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit


@pytest.fixture
def look(known):
    def make(*terms: str, own: tuple[str, ...] = ()):
        code = known.codes["CU201"].model_copy(update={"terms": dict.fromkeys(terms, "why")})
        return Look(code, known, frozenset(own))

    return make


def cuda(text: str) -> CudaUnit:
    return CudaUnit("a.cu", text.encode())


def python(text: str, path: str = "a.py") -> PythonUnit:
    return PythonUnit(path, text.encode())


def test_without_terms_nothing_is_there(look):
    assert not a_term(cuda("x"), look())
    assert not a_dotted_name(python("import a"), look())


def test_a_term_is_there_as_it_is_written(look):
    assert not a_term(cuda("cuda_ run.h"), look("cuda_run.h"))
    assert a_term(cuda("// cuda_run.h"), look("cuda_run.h", "other"))


def test_the_first_word_of_a_term(look):
    assert not a_first_word(cuda("::cute"), look("cutlass::"))
    assert a_first_word(cuda("using namespace cutlass;"), look("cutlass::"))


@pytest.mark.parametrize("text", ["std::cuda", "cuda std", "cuda:std", "cudaX::std"])
def test_what_is_no_qualified_name(look, text):
    assert not a_qualified_name(cuda(text), look("cuda::std::"))


@pytest.mark.parametrize("text", ["cuda::std::a", "cuda :: std\n:: a", "my::cuda::std::b", "#include <cuda/std/x>"])
def test_a_qualified_name_may_be_spaced(look, text):
    assert a_qualified_name(cuda(text), look("cuda::std::", "cuda/std/"))


@pytest.mark.parametrize("text", ["torch.version", "import torch\nversion(cuda)", "torch.cuda.version"])
def test_what_is_no_dotted_name(look, text):
    assert not a_dotted_name(python(text), look("torch.version.cuda"))


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
def test_a_dotted_name_may_go_by_another(look, text):
    assert a_dotted_name(python(text), look("torch.version.cuda"))


def test_an_imported_term(look):
    assert not an_imported_term(python("pynvml = 1"), look("pynvml"))
    assert an_imported_term(python("try: import pynvml\nexcept: pass"), look("pynvml"))


@pytest.mark.parametrize("text", ["a << b << c", "std::cout << x;", "a<b> < c", "template <template <class> class T>"])
def test_what_is_no_launch(look, text):
    assert not a_launch(cuda(text), look())


@pytest.mark.parametrize("text", ["k<<<1, 1>>>();", "k<< <1, 1>> >();", "k< <<1>>>();", "k<</* grid */<1>>>();"])
def test_a_launch_may_be_pulled_apart(look, text):
    assert a_launch(cuda(text), look())


@pytest.mark.parametrize(
    "text",
    [
        "a > > > b",
        "k<<<1, 1>>>();",
        "#include <vector> // <<<\nk<<<1, 1>>>(); // >",
        "k<<<1, sizeof(std::vector<std::array<T, 2>>)>>>();",
    ],
)
def test_what_is_no_launch_pulled_apart(look, text):
    assert not a_launch_pulled_apart(cuda(text), look())


@pytest.mark.parametrize(
    "text",
    [
        "k<< <1, 1>> >();",
        "k< <<1>>>();",
        "k<<<1, 1>\n>>();",
        "k<<<1, 1>>\\\n>();",
        "k<<<1>> /* a */ /* b */ >();",
        "k<<<1>// a\n  // b\n>>();",
    ],
)
def test_a_launch_that_is_pulled_apart(look, text):
    assert a_launch_pulled_apart(cuda(text), look())


def test_many_comments_with_chevrons_take_no_time(look):
    assert not a_launch_pulled_apart(cuda("k<<<1, 1>>>();\n" + "// a ->\n" * 200_000), look())


def test_known_modules_are_those_of_other_packages(knowledge):
    code = knowledge.codes["PY103"]

    assert b"gsplat" in known_modules(Look(code, knowledge))
    assert b"gsplat" not in known_modules(Look(code, knowledge, frozenset({"gsplat"})))


def test_a_file_inside_a_package_may_import_it():
    assert not imports_others(python("import gsplat.cuda", "gsplat/a.py"), frozenset({b"gsplat"}))
    assert imports_others(python("import gsplat.cuda", "tests/a.py"), frozenset({b"gsplat"}))
    assert imports_others(python("import gsplat, spconv", "gsplat/a.py"), frozenset({b"gsplat", b"spconv"}))


def test_known_imports_are_those_of_packages_that_the_rule_speaks_of(knowledge):
    code = knowledge.codes["PY103"]
    unit = python("import gsplat\n")

    assert a_known_import(unit, Look(code, knowledge))
    assert not a_known_import(unit, Look(code, knowledge, frozenset({"gsplat"})))
    assert not a_known_import(unit, Look(code.model_copy(update={"terms": {"gsplat": "why"}}), knowledge))
    assert not a_known_import(python("import numpy\n"), Look(code, knowledge))
