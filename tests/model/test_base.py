"""The schema version policy: accepted versions, and error messages of one line."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from rocm3d import __version__
from rocm3d.model.base import SCHEMA_VERSION, Record, describe_validation_error
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.verdict import Verdicts

GOOD = {
    "schema_version": SCHEMA_VERSION, "tool_version": "0.1.0", "repository": "r", "targets": ["gfx942"], "verdicts": [],
}  # fmt: skip
RERUN_HINT = "rerun the stage that writes it"


def refusal(raw: object) -> UserError:
    """The error of reading a document; asserts that it is one line that names the file."""
    text = raw if isinstance(raw, str) else json.dumps(raw)
    with pytest.raises(UserError) as failure:
        Verdicts.from_json(text, "verdicts.json")
    assert failure.value.exit_code == ExitCode.USAGE
    assert failure.value.message.startswith("verdicts.json")
    assert "\n" not in failure.value.message + failure.value.hint
    return failure.value


@pytest.fixture
def later_reader(monkeypatch):
    """A reader with a later minor version."""
    monkeypatch.setattr("rocm3d.model.base.SCHEMA_VERSION", "1.3")


@pytest.mark.parametrize("text", ["", "{", "not json", '{"a": }', "\ufeff{}"])
def test_text_that_is_not_json_is_refused(text):
    result = refusal(text)
    assert "is not JSON" in result.message
    assert result.hint == RERUN_HINT


def test_text_nested_too_deep_is_refused():
    assert refusal("[" * 100_000).hint == RERUN_HINT


@pytest.mark.parametrize("raw", [[], "text", 3, None, [GOOD]])
def test_json_that_is_not_an_object_is_refused(raw):
    result = refusal(json.dumps(raw))
    assert "is not a rocm3d document" in result.message
    assert result.hint == RERUN_HINT


@pytest.mark.parametrize("version", ["", "1", "1.", ".0", "v1.0", "1.0.0", "one.two", "-1.0", None, 1, []])
def test_invalid_version_is_refused(version):
    result = refusal({**GOOD, "schema_version": version})
    assert "has no schema_version" in result.message
    assert result.hint == RERUN_HINT


def test_missing_version_is_refused():
    result = refusal({key: value for key, value in GOOD.items() if key != "schema_version"})
    assert "has no schema_version" in result.message
    assert result.hint == RERUN_HINT


@pytest.mark.parametrize("version", ["1." + "9" * 5000, "9" * 5000 + ".0"])
def test_version_too_long_to_be_a_number_is_refused(version):
    assert refusal({**GOOD, "schema_version": version}).hint


@pytest.mark.parametrize("version", ["2.0", "0.9", "10.0"])
def test_other_major_is_refused_with_the_version_to_install(version):
    result = refusal({**GOOD, "schema_version": version, "tool_version": "7.8.9"})
    assert f"has schema {version}; rocm3d {__version__} reads 1.0 to {SCHEMA_VERSION}" in result.message
    assert "install rocm3d 7.8.9" in result.hint


@pytest.mark.parametrize("version", ["1.4", "1.10"])
def test_newer_minor_is_refused_with_the_version_to_install(later_reader, version):
    """1.10 is newer than 1.3: the parts are compared as numbers."""
    result = refusal({**GOOD, "schema_version": version, "tool_version": "7.8.9"})
    assert f"has schema {version}" in result.message
    assert "reads 1.0 to 1.3" in result.message
    assert "install rocm3d 7.8.9" in result.hint


def test_newer_minor_with_new_keys_is_refused_for_its_version_and_not_for_the_keys():
    result = refusal({**GOOD, "schema_version": "1.99", "added_later": 1})
    assert "has schema 1.99" in result.message


def test_unknown_writer_is_not_named_as_something_to_install():
    raw = {key: value for key, value in GOOD.items() if key != "tool_version"}
    assert "install rocm3d unknown" not in refusal({**raw, "schema_version": "2.0"}).hint


def test_unknown_key_is_refused_by_name():
    result = refusal({**GOOD, "vredicts": []})
    assert result.message.startswith("verdicts.json: vredicts: ")
    assert result.hint == RERUN_HINT


def test_missing_key_is_refused_by_name():
    result = refusal({key: value for key, value in GOOD.items() if key != "targets"})
    assert result.message.startswith("verdicts.json: targets: ")
    assert result.hint == RERUN_HINT


def test_wrong_value_deep_inside_is_refused_by_its_path():
    result = refusal({**GOOD, "verdicts": [{"level": "astral", "probe": "p", "outcome": "failed", "reason": "r"}]})
    assert result.message.startswith("verdicts.json: verdicts.0.level: ")


@pytest.mark.parametrize("text", ['{"repository": NaN}', '{"repository": "\\ud800"}'])
def test_json_that_only_python_takes_is_refused(text):
    assert refusal(json.dumps(GOOD)[:-1] + ", " + text[1:])


def test_record_refuses_unknown_keys_and_changes():
    class Pair(Record):
        left: int

    with pytest.raises(ValidationError, match="right"):
        Pair.model_validate({"left": 1, "right": 2})
    with pytest.raises(ValidationError, match="frozen"):
        Pair(left=1).left = 2  # type: ignore[misc]


def test_description_names_the_first_key_and_counts_the_rest():
    with pytest.raises(ValidationError) as error:
        Verdicts.model_validate({"repository": 1, "targets": [], "verdicts": [], "b": 1, "c": 1})
    assert describe_validation_error(error.value) == "repository: Input should be a valid string (and 2 more)"


def test_description_of_a_top_level_error():
    with pytest.raises(ValidationError) as error:
        Verdicts.model_validate(3)
    assert describe_validation_error(error.value).startswith("(top level): ")


def test_same_version_is_read():
    assert Verdicts.from_json(json.dumps(GOOD), "verdicts.json").targets == ("gfx942",)


@pytest.mark.parametrize("version", ["1.0", "1.2", "1.3"])
def test_same_and_older_minors_are_read(later_reader, version):
    result = Verdicts.from_json(json.dumps({**GOOD, "schema_version": version}), "verdicts.json")
    assert result.schema_version == version


def test_writer_is_recorded():
    assert Verdicts(repository="r", targets=(), verdicts=()).tool_version == __version__


def test_text_is_stable_and_ends_in_one_newline():
    document = Verdicts(repository="r", targets=("b", "a"), verdicts=())
    text = document.to_json()
    assert text == document.to_json()
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    assert text.splitlines()[1] == f'  "schema_version": "{SCHEMA_VERSION}",'
    assert list(json.loads(text)) == ["schema_version", "tool_version", "repository", "targets", "verdicts"]


@pytest.mark.parametrize("key", ["a\nb", "a\x1b[2Jb", "a\u202eb", "a\rb", "a" * 100_000])
def test_key_of_a_document_is_one_short_printable_line_in_the_message(key):
    message = refusal({**GOOD, key: 1}).message

    assert message.isprintable()
    assert len(message) < 1000


def test_writer_of_a_newer_document_is_printable():
    assert refusal({**GOOD, "schema_version": "99.0", "tool_version": "1\n\x1b[2J"}).hint.isprintable()
