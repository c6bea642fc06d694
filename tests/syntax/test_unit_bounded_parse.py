from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax import unit as module
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.unit import SMALL, bounded_parse, peak_memory

LANGUAGES = [PythonUnit.language, CudaUnit.language]
HOSTILE = b"x=" + b"a?" * 20_000  # takes quadratic time
PARTS = ["x = 1\n", "if a:\n  b\n", "void f() {", "}", "'''", '"', "/*", "*/", "é", "\U0001f600", "\\\n", "?"]


@pytest.fixture
def _short_time_limit(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.1)
    monkeypatch.setattr(module, "SECONDS_PER_BYTE", 0.0)


@pytest.mark.usefixtures("_short_time_limit")
def test_time_limit():
    assert bounded_parse(PythonUnit.language, HOSTILE) is None


def test_memory_limit(monkeypatch):
    """Only memory beyond the peak before the parse counts."""
    peaks = count(10**10, 10**9)
    monkeypatch.setattr(module, "peak_memory", lambda: next(peaks))

    assert bounded_parse(CudaUnit.language, b"a<" * 10_000) is None


def test_earlier_memory_peak_does_not_count(monkeypatch):
    monkeypatch.setattr(module, "peak_memory", lambda: 10**10)

    assert bounded_parse(CudaUnit.language, b"int x;\n" * 10_000) is not None


def test_peak_memory_of_this_process():
    assert 10**7 < peak_memory() < 10**11


@pytest.mark.usefixtures("_short_time_limit")
def test_unit_over_the_limit_is_empty_and_reported():
    unit = PythonUnit("a.py", HOSTILE)

    assert not unit.has_exceeded_limits  # the tree was not requested yet
    assert [] == list(unit.nodes("identifier"))
    assert unit.has_exceeded_limits


@pytest.mark.usefixtures("_short_time_limit")
def test_truncated_unit_over_the_limit_is_not_used():
    unit = PythonUnit("a.py", HOSTILE + b"\nimport pynvml\nx = 1\n")

    assert unit is unit.truncated_after_imports(frozenset({b"pynvml"}))


@given(st.lists(st.sampled_from(PARTS), max_size=30), st.sampled_from(LANGUAGES), st.integers(4, 12), st.booleans())
def test_chunked_parse_gives_the_same_tree(parts, language, size, odd):
    data = "".join(parts).encode("latin-1" if odd else "utf-8", "replace")
    with pytest.MonkeyPatch.context() as patch:
        full = bounded_parse(language, data)
        patch.setattr(module, "SMALL", 0)
        patch.setattr(module, "_PIECE", size)

        assert str(full.root_node) == str(bounded_parse(language, data).root_node)


def test_a_large_file_is_read_to_its_end():
    unit = PythonUnit("a.py", "def f(x):\n    return [x, 'é']\n".encode() * 1000)

    assert len(unit.data) > SMALL
    assert 1000 == len(list(unit.nodes("function_definition")))
    assert not unit.has_exceeded_limits
