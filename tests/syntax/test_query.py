from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Query, QueryCursor

from rocm3d.model.errors import UserError
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.query import Predicate, parse_query

CUDA_PATTERNS = (
    "(call_expression function: (_) @name) @match",
    "(call_expression function: [(identifier) (qualified_identifier)] @f arguments: (argument_list (_) @item)) @match",
    "(call_expression function: (identifier) @a arguments: (argument_list . (number_literal) @first)) @match",
    "(call_expression arguments: (argument_list (identifier) @last .))",  # comments do not count here, but there
    '(function_definition "__global__" declarator: (_) @declarator) @match',
    "(preproc_include path: [(system_lib_string) @system (string_literal) @own]) @match",
    "(declaration type: (_) @type declarator: (init_declarator declarator: (identifier) @name value: (_) @value))",
    "(if_statement !alternative condition: (_) @condition) @match",
    "[(kernel_call_syntax) (launch_bounds)] @match",
    "((number_literal) @match)",
)
CUDA_SOURCES = (
    "#include <cub/cub.cuh>\n",
    '#include "own.h"\n',
    "__global__ void k(float* a) { a[0] = f(1, x, y); }\n",
    "void g() { k<<<1, 2>>>(p); n::f<3>(1); f(2, /* c */ z); }\n",
    "int a = 1, b; const auto c = f(b);\n",
    "void h() { if (a) f(); if (b) { g(1); } else g(a, b); }\n",
    "__global__ void __launch_bounds__(256, 2) m() { f(f(1), f(x)); }\n",
    "broken ( {\n",
)
PYTHON_PATTERNS = (
    "(call function: (attribute attribute: (_) @method) @function) @match",
    "(call arguments: (argument_list (keyword_argument name: (identifier) @name value: (_) @value))) @match",
    "(assignment left: (_) @left right: [(true) (false)] @right)",
    "(import_from_statement module_name: (dotted_name) @module) @match",
    "(call function: (identifier) @f arguments: (argument_list . (string) @first))",
    "[(list (call) @inner) (tuple (call) @inner)] @match",
)
PYTHON_SOURCES = (
    "import torch\n",
    "from torch.utils import cpp_extension\n",
    "x = torch.compile(m, mode='max', flag=True)\n",
    "a.b = False\n",
    "f('a', g(1), [h(), 2], (i(),))\n",
    "def f(x=1):\n    return x\n",
    "if (:\n",
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(call_expression", "it ends too early"),
        ("(no_such_node) @match", "cuda has no node type 'no_such_node'"),
        ("(call_expression no_field: (_))", "cuda has no field 'no_field'"),
        ('"no_token"', "has no node type 'no_token'"),
        ("(_) @match", "the outermost node needs a type"),
        ("(argument_list (_) (_))", "two children without a field"),
        ("(call_expression)* @match", r"unexpected '\*"),
        ("call_expression", "unexpected 'call_expression'"),
    ],
)
def test_a_query_with_an_error_is_refused(text, message):
    with pytest.raises(UserError, match=message):
        parse_query(text, CudaUnit.language)


def test_predicates_and_settings():
    (pattern,) = parse_query(
        '; a comment\n((identifier) @a (#match? @a "\\\\d\\"") (#not-known? "x") (#set! severity "note"))',
        CudaUnit.language,
    )

    assert pattern.predicates == (Predicate("match", ("@a", '\\d"')), Predicate("not-known", ("x",)))
    assert pattern.settings == {"severity": "note"}


def ours(text: str, unit: CudaUnit | PythonUnit) -> set[frozenset[tuple[str, int, int]]]:
    """Each match as a set of names and byte ranges."""
    matches = (captures for pattern in parse_query(text, unit.language) for captures in pattern.matches(unit))
    return {
        frozenset((name, node.start_byte, node.end_byte) for name, node in captures.items()) for captures in matches
    }


def theirs(text: str, unit: CudaUnit | PythonUnit) -> set[frozenset[tuple[str, int, int]]]:
    matches = QueryCursor(Query(unit.language, text)).matches(unit.tree.root_node)
    return {
        frozenset((name, node.start_byte, node.end_byte) for name, nodes in captures.items() for node in nodes)
        for _, captures in matches
    }


@given(st.sampled_from(CUDA_PATTERNS), st.lists(st.sampled_from(CUDA_SOURCES), max_size=6))
def test_matches_are_those_of_tree_sitter_in_cuda(pattern, sources):
    unit = CudaUnit("a.cu", "".join(sources).encode())

    assert ours(pattern, unit) == theirs(pattern, unit)


@given(st.sampled_from(PYTHON_PATTERNS), st.lists(st.sampled_from(PYTHON_SOURCES), max_size=6))
def test_matches_are_those_of_tree_sitter_in_python(pattern, sources):
    unit = PythonUnit("a.py", "".join(sources).encode())

    assert ours(pattern, unit) == theirs(pattern, unit)
