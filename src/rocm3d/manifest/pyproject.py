"""pyproject.toml: requirements of PEP 621 and 735, poetry, pdm, hatch, uv, pixi, and their indexes."""

from __future__ import annotations

from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import Manifest, Reader, pure
from rocm3d.manifest.script import Script
from rocm3d.manifest.toml_text import TomlText, entries, listed, parsed, table_of

_PIXI = "pixi.toml"
_HATCH = ("dependencies", "extra-dependencies")


def syntax_error(data: bytes) -> str | None:
    """The TOML error of the file; None if it is valid."""
    return parsed(data)[1]


def is_pyproject(path: str) -> bool:
    """Whether a path is a pyproject.toml or a pixi.toml."""
    return pure(path).name in ("pyproject.toml", _PIXI)


def read(path: str, data: bytes) -> Manifest:
    """Every requirement and index at the position of its literal."""
    document, problem = parsed(data)
    if problem is not None:
        return Manifest(path, reader.kind, data, unread=((1, problem),))
    found = TomlText(data.decode("utf-8"))
    _standard(found, document)
    tool = table_of(document, "tool")
    _poetry(found, table_of(tool, "poetry"))
    _uv(found, table_of(tool, "uv"))
    _others(found, tool)
    alone = pure(path).name == _PIXI
    _pixi(found, document if alone else table_of(tool, "pixi"), () if alone else ("tool", "pixi"))
    mentions = sorted(found.mentions, key=lambda item: (item.line, item.column))
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(found.options))


def _standard(found: TomlText, document: dict[str, Any]) -> None:
    build, project = table_of(document, "build-system"), table_of(document, "project")
    found.requirements(build.get("requires"), "build-system", found.heading("build-system"))
    found.requirements(project.get("dependencies"), "project", found.heading("project"))
    for _, values in entries(project.get("optional-dependencies")):
        found.requirements(values, "optional", found.heading("project", "optional-dependencies"))
    for _, values in entries(document.get("dependency-groups")):
        found.requirements(values, "optional", found.heading("dependency-groups"))


def _poetry(found: TomlText, poetry: dict[str, Any]) -> None:
    for key in ("dependencies", "dev-dependencies"):
        found.named(table_of(poetry, key), "poetry", found.heading("tool", "poetry", key))
    for name, group in entries(poetry.get("group")):
        after = found.heading("tool", "poetry", "group", name, "dependencies")
        found.named(table_of(group, "dependencies"), "poetry", after)
    for source in listed(poetry.get("source")):
        found.index(table_of(source).get("url"), "url", found.heading("tool", "poetry", "source"))


def _uv(found: TomlText, uv: dict[str, Any]) -> None:
    after = found.heading("tool", "uv")
    for key in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        found.requirements(uv.get(key), "uv", after)
    for key in ("index-url", "extra-index-url", "find-links"):
        found.index(uv.get(key), key, after)
    for index in listed(uv.get("index")):
        found.index(table_of(index).get("url"), "url", found.heading("tool", "uv", "index"))
    for name, source in entries(uv.get("sources")):
        details = [item for item in (source if isinstance(source, list) else [source]) if isinstance(item, dict)]
        given = {name: [item for item in details if {"url", "git", "path"} & set(item)]}
        found.named(given, "uv", found.heading("tool", "uv", "sources"))


def _others(found: TomlText, tool: dict[str, Any]) -> None:
    for _, values in entries(table_of(tool, "pdm").get("dev-dependencies")):
        found.requirements(values, "pdm", found.heading("tool", "pdm", "dev-dependencies"))
    for source in listed(table_of(tool, "pdm").get("source")):
        found.index(table_of(source).get("url"), "url", found.heading("tool", "pdm", "source"))
    for name, environment in entries(table_of(tool, "hatch").get("envs")):
        for key in _HATCH:
            after = found.heading("tool", "hatch", "envs", name)
            found.requirements(table_of(environment).get(key), "hatch", after)


def _pixi(found: TomlText, pixi: dict[str, Any], above: tuple[str, ...]) -> None:
    """Dependencies of the workspace, features and targets, and the install commands of tasks."""
    inner = [((kind, name), table) for kind in ("feature", "target") for name, table in entries(pixi.get(kind))]
    for names, part in [((), pixi), *inner]:
        for key, section in (("dependencies", "conda"), ("pypi-dependencies", "pixi")):
            found.named(table_of(part, key), section, found.heading(*above, *names, key))
    for _, task in entries(pixi.get("tasks")):
        text = task.get("cmd") if isinstance(task, dict) else task
        place = found.place(text, found.heading(*above, "tasks")) if isinstance(text, str) else (1, 1)
        script = Script()
        for words in shell_commands(text if isinstance(text, str) else "", *place):
            script.take(words)
        found.mentions += script.mentions
        found.options += script.options


reader = Reader(__name__, is_pyproject, read)
