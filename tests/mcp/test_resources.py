"""Resources of the MCP server."""

from __future__ import annotations

import json

import jsonschema
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from rocm3d.mcp.resources import DOCUMENTS, RECORDS


@pytest.mark.parametrize(
    "uri",
    ["rocm3d://codes/XX999", "rocm3d://skill/../../secret", "rocm3d://schemas/nothing", "rocm3d://date/x", "file:///etc/hosts",
     "rocm3d://__class__/a", "rocm3d://"],
)  # fmt: skip
def test_unknown_resource_is_an_error(talk, uri):
    async def read(client):
        with pytest.raises(MCPError, match="unknown resource"):
            await client.read_resource(uri)

    talk(read)


def test_every_resource_that_is_listed_can_be_read(library):
    listed = library._list_all()

    assert {f"rocm3d://{kind}" for kind in RECORDS} < {str(item.uri) for item in listed}
    for item in listed:
        text, kind = library.page(str(item.uri))
        assert text.strip()
        assert kind == item.mime_type


@pytest.mark.parametrize("kind", ["codes", "packages", "recipes"])
def test_every_record_of_a_list_has_a_page(library, knowledge, kind):
    listed, _ = library.page(f"rocm3d://{kind}")

    for name in list(getattr(knowledge, kind))[:40]:
        assert f"rocm3d://{kind}/{name})" in listed
        assert library.page(f"rocm3d://{kind}/{name}")[0].startswith("#")


def test_the_client_reads_lists_templates_and_completes(talk, knowledge):
    async def conversation(client):
        templates = await client.list_resource_templates()
        page = await client.read_resource("rocm3d://codes/CU101")
        reference = types.ResourceTemplateReference(uri="rocm3d://packages/{name}")
        names = await client.complete(reference, {"name": "name", "value": "gs"})
        return templates, page, names

    templates, page, names = talk(conversation)

    assert {item.uri_template for item in templates.resource_templates} == {
        f"rocm3d://{kind}/{{name}}" for kind in RECORDS
    }
    assert "CU101" in page.contents[0].text
    assert names.completion.values == [name for name in knowledge.packages if name.startswith("gs")]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_schema_is_one(library, name):
    jsonschema.Draft202012Validator.check_schema(json.loads(library.page(f"rocm3d://schemas/{name}")[0]))


def test_a_document_is_valid_against_the_schema_that_is_served(library, work, example):
    rules = json.loads(library.page("rocm3d://schemas/scan")[0])

    jsonschema.Draft202012Validator(rules).validate(work("scan", path=str(example("splat-trainer"))).document)
