from __future__ import annotations

from rocm3d.scan.file_scan import FileResult, scan_file
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import StringInterner

LINES = b"#include <device_launch_parameters.h>\n" * 3


def test_result_without_findings_is_unchanged():
    empty = FileResult(python=1)

    assert StringInterner()(empty) is empty


def test_interned_result_is_equal(knowledge):
    result = scan_file("a.cu", LINES, knowledge, Selection())
    intern = StringInterner()(result)

    assert intern == result
    assert intern.model_dump_json() == result.model_dump_json()
    assert FileResult.model_validate_json(intern.model_dump_json()) == result


def test_equal_strings_are_shared(knowledge):
    intern = StringInterner()
    texts = [scan_file(path, LINES, knowledge, Selection()).model_dump_json() for path in ("a.cu", "b.cu")]
    first, second = (intern(FileResult.model_validate_json(text)).findings[0] for text in texts)

    assert first.hint is second.hint
    assert first.model_fields_set is second.model_fields_set
