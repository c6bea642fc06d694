"""pyproject.toml: requirements of PEP 621 and 735, poetry, pdm, hatch, uv, pixi, and their indexes."""

from __future__ import annotations

from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import ScriptAnalysis
from rocm3d.manifest.toml_text import TomlText, as_list, nested_table, parse_toml, table_items

_PIXI = "pixi.toml"
_HATCH = ("dependencies", "extra-dependencies")


def syntax_error(data: bytes) -> str | None:
    """The TOML error of the file; None if it is valid."""
    return parse_toml(data)[1]


def is_pyproject(path: str) -> bool:
    """Whether a path is a pyproject.toml or a pixi.toml."""
    return posix_path(path).name in ("pyproject.toml", _PIXI)


def read(path: str, data: bytes) -> ParsedManifest:
    """Every requirement and index at the position of its literal."""
    document, problem = parse_toml(data)
    if problem is not None:
        return ParsedManifest(path, reader.kind, data, unread=((1, problem),))
    toml_text = TomlText(data.decode("utf-8"))
    _add_standard(toml_text, document)
    tool = nested_table(document, "tool")
    _add_poetry(toml_text, nested_table(tool, "poetry"))
    _add_uv(toml_text, nested_table(tool, "uv"))
    _add_pdm_and_hatch(toml_text, tool)
    is_pixi_file = posix_path(path).name == _PIXI
    _add_pixi(
        toml_text, document if is_pixi_file else nested_table(tool, "pixi"), () if is_pixi_file else ("tool", "pixi")
    )
    mentions = sorted(toml_text.mentions, key=lambda mention: (mention.line, mention.column))
    return ParsedManifest(path, reader.kind, data, tuple(mentions), tuple(toml_text.options))


def _add_standard(toml_text: TomlText, document: dict[str, Any]) -> None:
    build, project = nested_table(document, "build-system"), nested_table(document, "project")
    toml_text.add_requirements(build.get("requires"), "build-system", toml_text.heading_end("build-system"))
    toml_text.add_requirements(project.get("dependencies"), "project", toml_text.heading_end("project"))
    for _, values in table_items(project.get("optional-dependencies")):
        toml_text.add_requirements(values, "optional", toml_text.heading_end("project", "optional-dependencies"))
    for _, values in table_items(document.get("dependency-groups")):
        toml_text.add_requirements(values, "optional", toml_text.heading_end("dependency-groups"))


def _add_poetry(toml_text: TomlText, poetry: dict[str, Any]) -> None:
    for key in ("dependencies", "dev-dependencies"):
        toml_text.add_distributions(nested_table(poetry, key), "poetry", toml_text.heading_end("tool", "poetry", key))
    for name, group in table_items(poetry.get("group")):
        after = toml_text.heading_end("tool", "poetry", "group", name, "dependencies")
        toml_text.add_distributions(nested_table(group, "dependencies"), "poetry", after)
    for source in as_list(poetry.get("source")):
        toml_text.add_indexes(nested_table(source).get("url"), "url", toml_text.heading_end("tool", "poetry", "source"))


def _add_uv(toml_text: TomlText, uv: dict[str, Any]) -> None:
    after = toml_text.heading_end("tool", "uv")
    for key in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        toml_text.add_requirements(uv.get(key), "uv", after)
    for key in ("index-url", "extra-index-url", "find-links"):
        toml_text.add_indexes(uv.get(key), key, after)
    for index in as_list(uv.get("index")):
        toml_text.add_indexes(nested_table(index).get("url"), "url", toml_text.heading_end("tool", "uv", "index"))
    for name, source in table_items(uv.get("sources")):
        details = [
            source_table
            for source_table in (source if isinstance(source, list) else [source])
            if isinstance(source_table, dict)
        ]
        sources = {name: [source_table for source_table in details if {"url", "git", "path"} & set(source_table)]}
        toml_text.add_distributions(sources, "uv", toml_text.heading_end("tool", "uv", "sources"))


def _add_pdm_and_hatch(toml_text: TomlText, tool: dict[str, Any]) -> None:
    for _, values in table_items(nested_table(tool, "pdm").get("dev-dependencies")):
        toml_text.add_requirements(values, "pdm", toml_text.heading_end("tool", "pdm", "dev-dependencies"))
    for source in as_list(nested_table(tool, "pdm").get("source")):
        toml_text.add_indexes(nested_table(source).get("url"), "url", toml_text.heading_end("tool", "pdm", "source"))
    for name, environment in table_items(nested_table(tool, "hatch").get("envs")):
        for key in _HATCH:
            after = toml_text.heading_end("tool", "hatch", "envs", name)
            toml_text.add_requirements(nested_table(environment).get(key), "hatch", after)


def _add_pixi(toml_text: TomlText, pixi: dict[str, Any], key_path: tuple[str, ...]) -> None:
    """Dependencies of the workspace, features and targets, and the install commands of tasks."""
    inner = [((kind, name), table) for kind in ("feature", "target") for name, table in table_items(pixi.get(kind))]
    for names, part in [((), pixi), *inner]:
        for key, section in (("dependencies", "conda"), ("pypi-dependencies", "pixi")):
            toml_text.add_distributions(nested_table(part, key), section, toml_text.heading_end(*key_path, *names, key))
    for _, task in table_items(pixi.get("tasks")):
        text = task.get("cmd") if isinstance(task, dict) else task
        position = (
            toml_text.value_position(text, toml_text.heading_end(*key_path, "tasks"))
            if isinstance(text, str)
            else (1, 1)
        )
        script = ScriptAnalysis()
        for words in shell_commands(text if isinstance(text, str) else "", *position):
            script.add_command(words)
        toml_text.mentions += script.mentions
        toml_text.options += script.options


reader = ManifestReader(__name__, is_pyproject, read)
