"""Properties of a dependency mention: severity of its file, install options, package record, ROCm or CUDA build."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.manifest.install_line import distribution_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.manifest.manifest import InstallOption, Mention, ParsedManifest
    from rocm3d.model.finding import Severity
    from rocm3d.model.package import Package

# Read or called by people, run in CI, or generated.
_NOT_INSTALLED_FROM = frozenset({"markdown", "workflow", "makefile", "locks"})
_SCRIPTS = frozenset({"shell", "docker", "dockerfile", "markdown", "workflow", "makefile", "notebook", "setup_py"})
_SUBDIRECTORY = re.compile(r"(?:^|&)subdirectory=([^&]+)")
_EXPORTED = re.compile(rb"(PIP|UV)_[A-Z_]*(INDEX|LINKS)")
_ROCM = re.compile(r"rocm|\bhip\b|amd\.com|radeon", re.IGNORECASE)


def severity_override(unit: ParsedManifest) -> Severity | None:
    """`note` if nothing installs from this file automatically; None means the severity of the code."""
    return "note" if unit.kind in _NOT_INSTALLED_FROM else None


def is_conda(mention: Mention) -> bool:
    """Whether conda installs it, not pip."""
    return mention.section.endswith("conda")


def requests_rocm(unit: ParsedManifest, mention: Mention) -> bool:
    """Whether the version, URL or index requests a ROCm build."""
    texts = (mention.version, mention.url, *(url for option in options_of(unit, mention) for url in option.urls))
    return any(_ROCM.search(text) for text in texts)


def is_from_default_index(unit: ParsedManifest, mention: Mention) -> bool:
    """Whether it has neither a URL nor an index."""
    return not mention.url and not any(option.urls for option in options_of(unit, mention))


def is_compiled_wheel(mention: Mention) -> bool:
    """Whether its URL is a platform-specific wheel."""
    address = mention.url.split("#")[0].split("?")[0]
    return address.endswith(".whl") and not address.endswith("-none-any.whl")


def options_of(unit: ParsedManifest, mention: Mention) -> list[InstallOption]:
    """Options that apply to a mention: in scripts those of its command and of the environment, elsewhere all."""
    if unit.kind == "python_script":  # a call may span several lines, so compare words
        words = {
            argument for command in unit.commands if mention.text in command.arguments for argument in command.arguments
        }
        return [option for option in unit.options if set(option.urls) & words]
    if unit.kind not in _SCRIPTS:
        return list(unit.options)
    first, last = command_lines(unit, mention.line)
    return [option for option in unit.options if first <= option.line <= last or _is_exported(unit, option)]


def mentions_with_option(unit: ParsedManifest, option: InstallOption) -> list[Mention]:
    """Mentions that an option applies to."""
    if unit.kind == "python_script":
        return [mention for mention in unit.mentions if option in options_of(unit, mention)]
    if unit.kind not in _SCRIPTS or _is_exported(unit, option):
        return list(unit.mentions)
    first, last = command_lines(unit, option.line)
    return [mention for mention in unit.mentions if first <= mention.line <= last]


def command_lines(unit: ParsedManifest, line: int) -> tuple[int, int]:
    """First and last line of a command that continues over lines with backslashes."""
    lines = unit.lines
    first = last = line
    while 1 < first <= len(lines) + 1 and _is_continued(lines[first - 2]):
        first -= 1
    while last < len(lines) and _is_continued(lines[last - 1]):
        last += 1
    return first, last


def _is_exported(unit: ParsedManifest, option: InstallOption) -> bool:
    """Whether the option is set by an environment variable and so applies to every later command."""
    lines = unit.lines
    text = lines[option.line - 1].decode("utf-8", "replace") if option.line <= len(lines) else ""
    return bool(_EXPORTED.match(text[option.column - 1 :].encode()))


def _is_continued(line: bytes) -> bool:
    return line.rstrip(b"\r").endswith(b"\\")


def package_of(mention: Mention, knowledge: Knowledge) -> tuple[str, Package | None]:
    """The package whose CUDA build a mention installs, and the name by which it was identified.

    The parts of a folder or repository URL are tried from the end. The last part alone is not reliable: it can be a
    copy of another extension, or bindings in a folder named after the framework.
    """
    conda = is_conda(mention)
    package = knowledge.cuda_package(mention.name, mention.extras, conda=conda)
    stack = knowledge.codes["DEP202"].terms
    if mention.url and not mention.url.endswith(".whl") and (package is None or reason_for(mention.name, stack)):
        for part in _candidate_names(mention.url):
            part_package = None if reason_for(part, stack) else package_at(part, knowledge)
            if part_package is not None:
                return part, part_package
    return mention.name, package


def package_at(name: str, knowledge: Knowledge) -> Package | None:
    """The package that a folder or repository with this name builds."""
    return knowledge.cuda_package(name) or knowledge.package_by_repository(name)


def _candidate_names(url: str) -> list[str]:
    """Candidate package names in a folder or URL, most specific first; the owner of a repository is left out."""
    path, _, fragment = url.partition("#")
    subdirectory = _SUBDIRECTORY.search(fragment)
    folders = subdirectory.group(1).split("/") if subdirectory else []
    if "://" in path or path.startswith("git@"):
        return [part for part in [*reversed(folders), distribution_name(path)] if part]
    return [part for part in reversed(path.split("/")) if part not in ("", ".", "..")]


def reason_for(name: str, terms: Mapping[str, str]) -> str | None:
    """The reason that the terms record for a distribution name, compared in canonical form."""
    canonical_name = canonicalize_name(name)
    return next((reason for term, reason in terms.items() if canonicalize_name(term) == canonical_name), None)
