"""MCP resources: pages of the knowledge base, the skill, and JSON schemas of documents."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from rocm3d.mcp.untrusted_text import clean_text
from rocm3d.skill.stage import PAGE_KINDS, record_page

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge

SCHEME = "rocm3d://"
RECORDS = PAGE_KINDS
# The documents in tool responses, and their models.
DOCUMENTS = {
    "scan": "inventory.Scan",
    "plan": "plan.Plan",
    "patch": "patch.Patch",
    "verdicts": "verdict.Verdicts",
    "evidence": "bundle.PortReport",
    "fit": "fit.Fit",
    "diagnosis": "condition.Diagnosis",
}
_MARKDOWN, _SCHEMA = "text/markdown", "application/schema+json"
_MAX_COMPLETIONS = 100


class ResourceLibrary:
    """Pages by URI. Knowledge base and help texts are loaded with the first page, in a thread."""

    def __init__(self, load: Callable[[], Knowledge], commands: Callable[[], Mapping[str, str]]) -> None:
        self._load, self._commands = load, commands

    @cached_property
    def knowledge(self) -> Knowledge:
        return self._load()

    @cached_property
    def skill(self) -> dict[str, str]:
        from rocm3d.skill.stage import skill_files

        return skill_files(self.knowledge, self._commands())

    async def list_resources(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """Lists of records, files of the skill, and schemas. Single records have templates."""
        return types.ListResourcesResult(resources=await anyio.to_thread.run_sync(self._list_all))

    def _list_all(self) -> list[types.Resource]:
        lists = [(f"{kind}", f"All {kind}, one line each", _MARKDOWN) for kind in RECORDS]
        skill = [(f"skill/{name}", "A file of the agent skill", _mime_type(name)) for name in self.skill]
        schemas = [(f"schemas/{name}", f"JSON Schema of the document {name}", _SCHEMA) for name in DOCUMENTS]
        return [
            types.Resource(uri=f"{SCHEME}{path}", name=path, description=description, mime_type=kind)
            for path, description, kind in (*lists, *skill, *schemas)
        ]

    async def list_templates(
        self, _: Any, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """One template per kind of record."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=f"{SCHEME}{kind}/{{name}}",
                    name=kind,
                    description=f"One of the {kind}, with sources and dates",
                    mime_type=_MARKDOWN,
                )
                for kind in RECORDS
            ]
        )

    async def read_resource(self, _: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """A page, or MCPError if the URI is unknown."""
        content = await anyio.to_thread.run_sync(self.page, str(params.uri))
        if content is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown resource {clean_text(str(params.uri), 120)}")
        text, kind = content
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, text=text, mime_type=kind)]
        )

    def page(self, uri: str) -> tuple[str, str] | None:
        """Text and MIME type of a URI; None if it is unknown."""
        section, _, name = uri.removeprefix(SCHEME).partition("/")
        name = unquote(name)
        if not uri.startswith(SCHEME):
            return None
        if section == "skill":
            return (self.skill[name], _mime_type(name)) if name in self.skill else None
        if section == "schemas":
            return (_schema(name), _SCHEMA) if name in DOCUMENTS else None
        if section not in RECORDS:
            return None
        return self._record_page(section, name)

    def _record_page(self, kind: str, name: str) -> tuple[str, str] | None:
        table = getattr(self.knowledge, kind)
        if not name:
            lines = [
                f"- [{item}]({SCHEME}{kind}/{quote(item)}): {_summary_line(record)}" for item, record in table.items()
            ]
            return "\n".join((f"# {kind}, knowledge of {self.knowledge.date}", "", *lines, "")), _MARKDOWN
        return (record_page(kind, name, self.knowledge), _MARKDOWN) if name in table else None

    async def complete(self, _: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Names of records with this prefix."""
        names = await anyio.to_thread.run_sync(self._matching_names, params)
        completion = types.Completion(
            values=names[:_MAX_COMPLETIONS], total=len(names), has_more=len(names) > _MAX_COMPLETIONS
        )
        return types.CompleteResult(completion=completion)

    def _matching_names(self, params: types.CompleteRequestParams) -> list[str]:
        if not isinstance(params.ref, types.ResourceTemplateReference):
            return []
        kind = params.ref.uri.removeprefix(SCHEME).partition("/")[0]
        table = getattr(self.knowledge, kind) if kind in RECORDS else {}
        return [name for name in table if name.lower().startswith(params.argument.value.lower())]


def _summary_line(record: Any) -> str:
    keys = ("rule", "title", "purpose", "claim", "meaning")
    return " ".join(str(next((getattr(record, key) for key in keys if hasattr(record, key)), "")).split())


def _mime_type(name: str) -> str:
    return "application/json" if name.endswith(".json") else _MARKDOWN


def _schema(name: str) -> str:
    module, _, model = DOCUMENTS[name].partition(".")
    kind = getattr(importlib.import_module(f"rocm3d.model.{module}"), model)
    return json.dumps(kind.model_json_schema(mode="serialization"), indent=2) + "\n"
