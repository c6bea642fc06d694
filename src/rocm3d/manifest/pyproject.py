"""pyproject.toml: requirements of PEP 621 and 735, poetry, pdm, hatch, uv, pixi, and their indexes."""

from __future__ import annotations

from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, has_name, posix_path
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.manifest.toml_text import TomlText, as_list, nested_table
from rocm3d.model.toml import parse

_PIXI = "pixi.toml"
_HATCH = ("dependencies", "extra-dependencies")


def _parse(path: str, data: bytes) -> ParsedManifest:
    """Every requirement and index at the position of its literal."""
    document, toml_text = parse(data), TomlText(data.decode("utf-8"))
    _add_standard(toml_text, document)
    tool = nested_table(document, "tool")
    _add_poetry(toml_text, nested_table(tool, "poetry"))
    _add_uv(toml_text, nested_table(tool, "uv"))
    _add_pdm_and_hatch(toml_text, tool)
    is_pixi_file = posix_path(path).name == _PIXI
    _add_pixi(
        toml_text, document if is_pixi_file else nested_table(tool, "pixi"), () if is_pixi_file else ("tool", "pixi")
    )
    toml_text.assign_indexes()
    toml_text.builder.sort_mentions()
    return toml_text.builder.manifest(path, reader.kind, data)


def _add_standard(toml_text: TomlText, document: dict[str, Any]) -> None:
    build, project = nested_table(document, "build-system"), nested_table(document, "project")
    toml_text.add_requirements(build.get("requires"), "build-system", toml_text.heading_end("build-system"))
    toml_text.add_requirements(project.get("dependencies"), "project", toml_text.heading_end("project"))
    toml_text.add_python(project.get("requires-python"), toml_text.heading_end("project"), required=True)
    for values in nested_table(project, "optional-dependencies").values():
        toml_text.add_requirements(values, "optional", toml_text.heading_end("project", "optional-dependencies"))
    for values in nested_table(document, "dependency-groups").values():
        toml_text.add_requirements(values, "optional", toml_text.heading_end("dependency-groups"))


def _add_poetry(toml_text: TomlText, poetry: dict[str, Any]) -> None:
    for key in ("dependencies", "dev-dependencies"):
        toml_text.add_distributions(nested_table(poetry, key), "poetry", toml_text.heading_end("tool", "poetry", key))
    for name, group in nested_table(poetry, "group").items():
        after = toml_text.heading_end("tool", "poetry", "group", name, "dependencies")
        toml_text.add_distributions(nested_table(group, "dependencies"), "poetry", after)
    toml_text.add_sources(poetry.get("source"), "tool", "poetry", "source")


def _add_uv(toml_text: TomlText, uv: dict[str, Any]) -> None:
    after = toml_text.heading_end("tool", "uv")
    for key in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        toml_text.add_requirements(uv.get(key), "uv", after)
    for key in ("index-url", "extra-index-url", "find-links"):
        toml_text.add_indexes(uv.get(key), key, after)
    toml_text.add_sources(uv.get("index"), "tool", "uv", "index")
    toml_text.add_index_names(nested_table(uv, "sources"))
    sources = {
        name: [table for table in (as_list(source) or [source]) if {"url", "git", "path"} & set(nested_table(table))]
        for name, source in nested_table(uv, "sources").items()
    }
    toml_text.add_distributions(sources, "uv", toml_text.heading_end("tool", "uv", "sources"))


def _add_pdm_and_hatch(toml_text: TomlText, tool: dict[str, Any]) -> None:
    for values in nested_table(tool, "pdm", "dev-dependencies").values():
        toml_text.add_requirements(values, "pdm", toml_text.heading_end("tool", "pdm", "dev-dependencies"))
    toml_text.add_sources(nested_table(tool, "pdm").get("source"), "tool", "pdm", "source")
    for name, environment in nested_table(tool, "hatch", "envs").items():
        for key in _HATCH:
            after = toml_text.heading_end("tool", "hatch", "envs", name)
            toml_text.add_requirements(nested_table(environment).get(key), "hatch", after)


def _add_pixi(toml_text: TomlText, pixi: dict[str, Any], key_path: tuple[str, ...]) -> None:
    """Dependencies of the workspace, features and targets, and the install commands of tasks."""
    options, after = nested_table(pixi, "pypi-options"), toml_text.heading_end(*key_path, "pypi-options")
    for key in ("index-url", "extra-index-urls", "find-links"):
        entries = as_list(options.get(key)) or [options.get(key)]
        toml_text.add_indexes([nested_table(entry).get("url", entry) for entry in entries], key, after)
    inner = [
        ((kind, name), table) for kind in ("feature", "target") for name, table in nested_table(pixi, kind).items()
    ]
    for names, part in [((), pixi), *inner]:
        for key, section in (("dependencies", "conda"), ("pypi-dependencies", "pixi")):
            toml_text.add_distributions(nested_table(part, key), section, toml_text.heading_end(*key_path, *names, key))
    for task in nested_table(pixi, "tasks").values():
        text = task.get("cmd") if isinstance(task, dict) else task
        if isinstance(text, str):
            script = ManifestBuilder()
            position = toml_text.value_position(text, toml_text.heading_end(*key_path, "tasks"))
            script.add_commands(shell_commands(text, *position))
            toml_text.builder.mentions += script.mentions
            toml_text.builder.options += script.options


reader = ManifestReader(__name__, has_name("pyproject.toml", _PIXI), _parse)
read = reader.read
