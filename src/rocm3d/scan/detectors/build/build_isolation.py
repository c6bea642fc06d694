"""A folder or repository that pip builds in an isolated environment: pip installs the default CUDA torch there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.install_line import ShellWord, parse_install_command
from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import package_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.finding import Severity

_BUILT_URL = re.compile(r"(git|hg)\+|\.{0,2}/|[^:]*$")
_DOCUMENT_KINDS = ("markdown", "notebook")  # documentation, not run by the build
_EXTENSION_FOLDER = re.compile(r"(extensions?|submodules?|third_?party|ops|csrc|libs?)/")  # usual folders of extensions
_ISOLATION_DISABLED = re.compile(rb"(PIP_)?NO_BUILD_ISOLATION\s*[= ]\s*[\"']?(0|false|no|off)", re.IGNORECASE)


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches installs without --no-build-isolation: known packages are errors, unknown folders warnings or notes."""
    if _ISOLATION_DISABLED.search(unit.data):  # pip inverts this variable: 0 disables isolation
        return
    for command in unit.commands:
        position = command.line, command.column
        install_command = parse_install_command(
            [ShellWord(text, *position, command.line) for text in (command.name, *command.arguments)]
        )
        if (
            install_command is None
            or install_command.tool == "conda"
            or "--no-build-isolation" in install_command.flags
        ):
            continue
        for mention in install_command.mentions:
            if not mention.url or mention.url.endswith(".whl") or not _BUILT_URL.match(mention.url):
                continue
            name, package = package_of(mention, context.knowledge)
            is_folder = "://" not in mention.url
            if package is None and not is_folder:
                continue
            facts = {"command": f"{install_command.tool} install {mention.text}", "name": name}
            severity: Severity | None = (
                "note"
                if unit.kind in _DOCUMENT_KINDS
                else None
                if package
                else "warning"
                if _EXTENSION_FOLDER.search(mention.url)
                else "note"
            )
            yield Match(*position, facts, package.id if package else None, severity)


detector = Detector(__name__, code="BLD304", unit_types=ParsedManifest, find=find)
