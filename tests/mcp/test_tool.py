"""Definitions and arguments of the tools."""

from __future__ import annotations

import jsonschema
import pytest

from rocm3d.mcp.tool import all_tools
from rocm3d.model.errors import UserError

STAGES = ("scan", "plan", "preview", "apply", "undo", "verify", "explain", "kb_query", "fit", "doctor", "evidence")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (None, "scan: path: Field required"),
        ({"path": ""}, "scan: path: String should have at least 1 character"),
        ({"path": "/a", "pth": 1}, "scan: pth: Extra inputs are not permitted"),
        ({"path": ["/a"]}, "scan: path: Input should be a valid string"),
        ({"path": "/a", "only": ["x" * 201]}, "scan: only.0: String should have at most 200 characters"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, message):
    with pytest.raises(UserError) as refused:
        all_tools()["scan"].parse_arguments(arguments)

    assert refused.value.message == message


@pytest.mark.parametrize("arguments", ["", "abc", "A" * 64, "0" * 63, "0" * 65])
def test_invalid_hash_is_refused(arguments):
    with pytest.raises(UserError, match="plan_hash"):
        all_tools()["apply"].parse_arguments({"path": "/a", "plan_hash": arguments})


def test_tools_come_in_the_order_of_a_port():
    assert [name for name in all_tools() if name in STAGES] == list(STAGES)


def test_only_apply_and_undo_change_a_repository():
    assert {name for name, tool in all_tools().items() if tool.changes} == {"apply", "undo"}


@pytest.mark.parametrize("name", all_tools())
def test_argument_schemas_are_valid_and_described(name):
    schema = all_tools()[name].arguments.model_json_schema()

    jsonschema.Draft202012Validator.check_schema(schema)
    for argument in schema["properties"].values():
        assert argument["description"]


@pytest.mark.parametrize("name", all_tools())
def test_every_path_argument_is_restricted(name):
    """Every argument that is a path must be listed in `paths`."""
    tool = all_tools()[name]
    places = {key for key in tool.arguments.model_fields if key in ("path", "into", "against", "snapshot")}
    words = {"against"} if name == "fit" else set()

    assert places - words == set(tool.paths)
