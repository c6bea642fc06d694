from __future__ import annotations

import re

import pytest

from rocm3d.model.verdict import CompilerNote, Diagnostic
from rocm3d.verify.compilation.classify import CompileProblem, ErrorCodes, HipifySourceMap, classify_errors


@pytest.fixture(scope="module")
def codes(knowledge_of_module):
    return ErrorCodes.of(knowledge_of_module.codes)


@pytest.fixture(scope="module")
def knowledge_of_module():
    from rocm3d.knowledge.load import load

    return load()


def error(message, path="a.cu", line=1, remarks=()):
    return Diagnostic(path=path, line=line, column=4, message=message, remarks=remarks)


def test_every_pattern_of_the_knowledge_base_compiles(knowledge):
    for code in knowledge.codes.values():
        for text in code.errors:
            re.compile(text)


@pytest.mark.parametrize(
    "message", ["expected ';' after expression", "use of undeclared identifier 'foo'", "no member named 'x' in 'Y'"]
)
def test_an_ordinary_error_has_no_code(codes, message):
    assert codes.find(f"{message}\nint x = foo\n") is None


@pytest.mark.parametrize(
    ("message", "source", "notes", "code"),
    [
        ("expected expression", "k << <1, 2 >> > (x);", "", "CU301"),
        ("use of undeclared identifier '__trap'", "__trap();", "", "CU302"),
        ("'device_launch_parameters.h' file not found", "", "", "CU201"),
        ("'cooperative_groups/reduce.h' file not found", "", "", "CU202"),
        ("'cuda/std/functional' file not found", "", "", "CU207"),
        ("no member named 'cuda' in the global namespace", "", "", "CU207"),
        ("static assertion failed: The mask must be a 64-bit integer.", "", "'__shfl_sync<unsigned, int>'", "CU101"),
        ("static assertion failed: The mask must be a 64-bit integer.", "", "'__syncwarp<unsigned>'", "CU103"),
        (
            "no matching constructor for 'T'",
            "",
            "not viable: call to __device__ function from __host__ function",
            "CU305",
        ),
        ("no matching function for call to 'hipFuncSetAttribute'", "", "", "CU303"),
        ("invalid suffix 'd' on floating constant", "", "", "CU306"),
        ("invalid % escape in inline assembly string", "asm(...)", "", "CU401"),
        ("use of undeclared identifier 'FLT_MAX'", "", "", "CU311"),
        ("use of undeclared identifier '__frcp_rz'", "", "", "CU312"),
        ("unknown argument: '--use_fast_math'", "", "", "BLD101"),
        ("'cuda_runtime.h' file not found", "", "", "CU506"),
        ("unknown type name 'cudaStream_t'", "", "", "CU506"),
        ("'cuda.h' file not found", "", "", "CU503"),
        ('"GLM requires CUDA 7.0 or higher"', "", "", "CU509"),
    ],
)
def test_errors_of_ports_are_known(codes, message, source, notes, code):
    result = codes.find(f"{message}\n{source}\n{notes}")

    assert result is not None
    assert result.code == code


def test_an_error_in_a_library_is_reported_where_the_repository_uses_it(codes, tmp_path):
    notes = (
        CompilerNote(path="a.cu", line=3, message="in instantiation of 'f' requested here"),
        CompilerNote(
            path="b.cuh", line=5, message="candidate constructor not viable: call to __device__ function from __host__"
        ),
    )

    (result,) = classify_errors(
        [error("no matching constructor", "/opt/x.hpp", 9, notes)], HipifySourceMap(tmp_path, {}), codes
    )

    assert (result.path, result.line, result.column, result.code) == ("a.cu", 3, 0, "CU305")
    assert result.also == ("b.cuh:5",)
    assert str(result) == "a.cu:3: CU305 host_device_functor: no matching constructor"


def test_both_errors_of_one_spaced_launch_are_one(codes, tmp_path):
    (tmp_path / "a.cu").write_text("k << <1, 1 >> > (p);\n")
    twice = [error("expected expression"), error("expected expression").model_copy(update={"column": 12})]

    result = classify_errors(twice, HipifySourceMap(tmp_path, {}), codes)

    assert [(item.line, item.column, item.code) for item in result] == [(1, 4, "CU301")]


def test_an_error_without_a_position_is_reported(codes, tmp_path):
    (result,) = classify_errors([error("ld.lld: broken", "", 0)], HipifySourceMap(tmp_path, {}), codes)

    assert str(result) == "ld.lld: broken"


def test_other_patterns_are_another_digest(knowledge):
    assert ErrorCodes.of(knowledge.codes).digest != ErrorCodes(()).digest
    assert str(CompileProblem("a.cu", 1, 2, "m", "CU301", "r")) == "a.cu:1:2: CU301 r: m"


def test_an_instantiation_takes_precedence_over_an_include(codes, tmp_path):
    """Only the first error of a header has the include stack; all are reported on the line of the call."""
    (tmp_path / "a.cu").write_text("1\n2\n3\n")
    instantiation = CompilerNote(
        path="a.cu", line=3, message="in instantiation of '__shfl_sync<unsigned>' requested here"
    )
    included = CompilerNote(path="a.cu", line=1, message="included from here")
    message = "static assertion failed: The mask must be a 64-bit integer."
    first = error(message, "/rocm/hip.h", 9, (included, instantiation))

    result = classify_errors(
        [first, error(message, "/rocm/hip.h", 9, (instantiation,))], HipifySourceMap(tmp_path, {}), codes
    )

    assert [(item.path, item.line, item.code) for item in result] == [("a.cu", 3, "CU101")]
