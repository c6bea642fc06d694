from __future__ import annotations

from rocm3d.scan.file import FileResult, look_at
from rocm3d.scan.lean import Lean
from rocm3d.scan.selection import Selection

LINES = b"#include <device_launch_parameters.h>\n" * 3


def test_a_result_without_findings_stays_as_it_is():
    empty = FileResult(python=1)

    assert Lean()(empty) is empty


def test_results_are_equal_and_give_the_same_json(knowledge):
    result = look_at("a.cu", LINES, knowledge, Selection())
    lean = Lean()(result)

    assert lean == result
    assert lean.model_dump_json() == result.model_dump_json()
    assert FileResult.model_validate_json(lean.model_dump_json()) == result


def test_equal_texts_are_one_text(knowledge):
    lean = Lean()
    texts = [look_at(path, LINES, knowledge, Selection()).model_dump_json() for path in ("a.cu", "b.cu")]
    first, second = (lean(FileResult.model_validate_json(text)).findings[0] for text in texts)

    assert first.hint is second.hint
    assert first.model_fields_set is second.model_fields_set
