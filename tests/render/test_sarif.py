"""SARIF 2.1.0.

No small package on PyPI ships the official schema (sarif-om and sarif-tools do not), so `LOG` below is written by hand
from the specification: of every object that we write, its required properties, the types and values allowed, and no
property beyond those that the specification gives it.
"""

from __future__ import annotations

import json
from urllib.parse import unquote

import jsonschema
import pytest

from rocm3d.model.inventory import HiddenFinding
from rocm3d.pipeline import Repository
from rocm3d.render.sarif import FINGERPRINT, render


def object_schema(required: str, **properties) -> dict:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


def many(entry: dict, **values) -> dict:
    return {"type": "array", "items": entry, **values}


TEXT = {"type": "string"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
COUNT = {"type": "integer", "minimum": 1}
MESSAGE = object_schema("text", text=TEXT)
PLACE = object_schema(
    "physicalLocation",
    physicalLocation=object_schema(
        "artifactLocation",
        artifactLocation=object_schema("uri", uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT),
        region=object_schema("startLine", startLine=COUNT, startColumn=COUNT),
    ),
)
RULE = object_schema(
    "id",
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=object_schema("", level=LEVEL),
)
RESULT = object_schema(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations=many(PLACE),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    properties={"type": "object"},
    suppressions=many(object_schema("kind", kind={"enum": ["inSource", "external"]}, justification=TEXT), minItems=1),
)
RUN = object_schema(
    "tool",
    tool=object_schema(
        "driver", driver=object_schema("name", name=TEXT, version=TEXT, rules=many(RULE, uniqueItems=True))
    ),
    invocations=many(
        object_schema(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=many(
                object_schema("message", level=LEVEL, message=MESSAGE, locations=many(PLACE))
            ),
        )
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=many(RESULT),
)
LOG = object_schema(
    "version runs", **{"$schema": {"type": "string", "format": "uri"}}, version={"const": "2.1.0"}, runs=many(RUN)
)


def run_of(document, knowledge) -> dict:
    log = json.loads(render(document, knowledge))
    jsonschema.Draft202012Validator(LOG).validate(log)
    (run,) = log["runs"]
    return run


def test_the_rules_of_this_test_refuse_what_is_no_sarif(make, knowledge):
    log = json.loads(render(make.scan(make.finding()), knowledge))
    del log["runs"][0]["results"][0]["message"]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(LOG).validate(log)


def test_nothing_found_is_a_log_too(make, knowledge):
    run = run_of(make.scan(), knowledge)

    assert run["results"] == run["tool"]["driver"]["rules"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_control_characters_links_and_placeholders_of_the_repository_are_taken_out(make, knowledge):
    run = run_of(make.scan(make.finding(message="a\x1b[31m\u202e [x](http://y) {0}")), knowledge)

    assert run["results"][0]["message"]["text"] == "a\ufffd[31m\ufffd [x] (http://y) {{0}}"


@pytest.mark.parametrize("path", ["a b/c#d.cu", "50%/x?.py", "größe/日本.cu", "c:d.py", "a\\b.py", "[x].py"])
def test_uri_is_relative_and_percent_encoded(make, knowledge, path):
    folder = run_of(make.scan(make.finding(path=path)), knowledge)["results"][0]["locations"][0]["physicalLocation"]
    uri = folder["artifactLocation"]["uri"]

    assert unquote(uri) == path
    assert uri.isascii()
    assert not set(" #?:\\[]") & set(uri)
    assert folder["artifactLocation"]["uriBaseId"] == "%SRCROOT%"


def test_a_result_has_rule_level_message_place_and_hint(make, knowledge):
    run = run_of(make.scan(make.finding(family="native-op", severity="note")), knowledge)
    (result,) = run["results"]
    mark = result.pop("partialFingerprints")

    assert list(mark) == [FINGERPRINT]
    assert result == {
        "ruleId": "CU301",
        "ruleIndex": 0,
        "level": "note",
        "message": {"text": "the launch is spaced"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "csrc/a.cu", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 2, "startColumn": 12},
                }
            }
        ],
        "properties": {"hint": "close it", "family": "native-op"},
    }
    assert run["columnKind"] == "unicodeCodePoints"


def test_hidden_findings_are_suppressed_results(make, knowledge):
    finding = make.finding(path="b.cu")
    hidden = (HiddenFinding(finding=finding, source="comments"), HiddenFinding(finding=finding, source="rocm3d.toml"))
    run = run_of(make.scan(make.finding()).model_copy(update={"hidden": hidden}), knowledge)
    (shown,) = run_of(make.scan(finding), knowledge)["results"]

    first, by_comment, by_settings = run["results"]
    assert "suppressions" not in first
    assert by_comment["partialFingerprints"] == shown["partialFingerprints"]
    assert by_settings["partialFingerprints"] != shown["partialFingerprints"]
    assert by_comment["suppressions"] == [{"kind": "inSource", "justification": "an ignore comment of the repository"}]
    assert by_settings["suppressions"] == [{"kind": "external", "justification": "settings in rocm3d.toml"}]


def test_fingerprints_are_distinct_and_stay_when_lines_move(make, knowledge):
    def marks(by):
        findings = (make.finding(line=2 + by), make.finding(line=9 + by), make.finding(path="b.cu", line=1 + by))
        return [
            entry["partialFingerprints"][FINGERPRINT] for entry in run_of(make.scan(*findings), knowledge)["results"]
        ]

    assert len(set(marks(0))) == 3
    assert marks(0) == marks(30)


def test_rules_are_those_that_occur_with_the_texts_of_the_knowledge(make, knowledge):
    findings = (make.finding(), make.finding(code="BLD101", rule="nvcc_flag"), make.finding(line=5))
    run = run_of(make.scan(*findings), knowledge)
    rules = run["tool"]["driver"]["rules"]
    record = knowledge.codes["BLD101"]

    assert [rule["id"] for rule in rules] == ["BLD101", "CU301"]
    assert [entry["ruleIndex"] for entry in run["results"]] == [1, 0, 1]
    assert rules[0]["name"] == "NvccFlag"
    assert rules[0]["shortDescription"]["text"] == record.message.replace("{flag}", "FLAG").replace("{why}", "WHY")
    assert rules[0]["fullDescription"]["text"] == " ".join(record.help.split())
    assert record.hint in rules[0]["help"]["text"]
    assert rules[0]["defaultConfiguration"] == {"level": record.severity}


def test_a_code_that_the_knowledge_does_not_have_keeps_its_name(make, knowledge):
    run = run_of(make.scan(make.finding(code="CU999", rule="not_there")), knowledge)

    assert run["tool"]["driver"]["rules"] == [{"id": "CU999", "name": "NotThere"}]


def test_skipped_files_are_notifications(make, knowledge):
    (invocation,) = run_of(make.scan(skipped=[("a b.bin", "holds NUL bytes")]), knowledge)["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]

    assert notification["level"] == "warning"
    assert notification["message"]["text"].endswith("a b.bin: holds NUL bytes")
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.bin"


def test_driver_has_name_and_version_and_no_address(make, knowledge):
    document = make.scan()
    driver = run_of(document, knowledge)["tool"]["driver"]

    assert (driver["name"], driver["version"]) == ("rocm3d", document.tool_version)
    assert "informationUri" not in driver


def test_a_real_scan_is_valid(example, knowledge):
    document = Repository(example("splat-trainer"), knowledge).scan()

    assert len(run_of(document, knowledge)["results"]) == len(document.findings) > 0
