"""Options that several subcommands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocm3d.model.errors import UserError
from rocm3d.model.plan_choices import LicenceRule, Platform, Preference
from rocm3d.render.formats import format_names, join_alternatives

if TYPE_CHECKING:
    from rocm3d.model.base import Document


def format_option(kind: type[Document] | str) -> Any:
    """The option --format for a command that shows this kind of document."""
    return typer.Option("--format", help=f"{join_alternatives(format_names(kind))}.")


def refuse_git_without_copy(into: Path | None, *, with_git: bool) -> None:
    """Raises UserError for --with-git without a copy."""
    if with_git and into is None:
        raise UserError("--with-git is for a copy", hint="pass --into DIR, or leave it out")


def absolute_path(path: Path | None) -> Path | None:
    """A path of the command line from the current folder: programs are started in other folders. Follows no link."""
    return None if path is None else Path(os.path.abspath(path))  # noqa: PTH100


Target = Annotated[Path, typer.Argument(metavar="PATH", help="The folder of the repository.", show_default=False)]
Gpu = Annotated[
    str | None,
    typer.Option("--gpu", help="Product or gfx id, such as mi300x or gfx1100. Default: the AMD GPU of this machine."),
]
Stack = Annotated[str | None, typer.Option(help="Use this stack instead of the best one; see rocm3d kb query stacks.")]
Rocm = Annotated[str, typer.Option("--rocm", help="Only stacks of this ROCm release or range: 7.2, or '>=6.4,<8'.")]
Prefer = Annotated[
    Preference, typer.Option("--prefer", help="Which stack wins if several support the same number of packages.")
]
PlatformName = Annotated[Platform, typer.Option("--platform", help="The operating system that the port runs on.")]
KeepTorch = Annotated[
    bool, typer.Option("--keep-torch", help="Plan for the installed ROCm torch: system, container or pip.")
]
Submodules = Annotated[
    bool,
    typer.Option(
        "--submodules", help="Fetch missing submodules, and git dependencies that name a commit. Uses the network."
    ),
]
Python = Annotated[
    Path | None,
    typer.Option(
        "--python",
        help="Python with torch. Default: $VIRTUAL_ENV, unless it is in PATH.",
        dir_okay=False,
        callback=absolute_path,
    ),
]
LicencePolicy = Annotated[
    LicenceRule | None,
    typer.Option("--licence-policy", help="How to handle components with restrictive licences. Default: report."),
]
Only = Annotated[list[str], typer.Option("--only", help="Run only these rules or code prefixes: a,b or repeated.")]
Skip = Annotated[list[str], typer.Option("--skip", help="Skip these rules or code prefixes: a,b or repeated.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the result to this file.", dir_okay=False)]
Work = Annotated[
    Path | None, typer.Option("--work", help="Folder for documents. Default: PATH/.rocm3d.", file_okay=False)
]
Into = Annotated[
    Path | None, typer.Option("--into", help="Port a copy in this new folder; PATH is not changed.", file_okay=False)
]
WithGit = Annotated[
    bool, typer.Option("--with-git", help="With --into: copy .git too, for builds that read their version from git.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Edit in place without git; rocm3d undo restores every file.")]
Folder = Annotated[str, typer.Option("--folder", help="Folder in the repository for added files.")]
SafeOnly = Annotated[bool, typer.Option("--safe-only", help="Leave out the edits that somebody should read.")]
Review = Annotated[bool, typer.Option("--review", hidden=True, help="No effect: these edits are made by default.")]
OnlyEdits = Annotated[
    list[str],
    typer.Option("--only", help="Make only edits of these rules, code prefixes or recipes: a,b or repeated."),
]
SkipEdits = Annotated[
    list[str],
    typer.Option("--skip", help="Skip edits of these rules, code prefixes or recipes: a,b or repeated."),
]
PatchFile = Annotated[
    Path | None,
    typer.Option("--patch", help="Also write the port to this file, for `git am` or `git apply`.", dir_okay=False),
]
AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Edit in place despite uncommitted changes.")]
Until = Annotated[
    str, typer.Option("--until", metavar="RUNG", help="Exit with 0 if the port is complete up to this rung.")
]
Level = Annotated[list[str], typer.Option("--level", help="A level to check; repeatable. Default: all.")]
TargetList = Annotated[str, typer.Option("--target", help="gfx ids to compile for, separated by commas.")]
HipHeaders = Annotated[
    Path | None,
    typer.Option("--hip-headers", help="Headers of ROCm libraries for the level compile.", file_okay=False),
]
Compile = Annotated[
    bool | None,
    typer.Option(
        "--compile/--no-compile",
        help="Compile also without a sandbox, or not at all. Default: in a sandbox; without one, a terminal is asked.",
    ),
]
CompileBudget = Annotated[str, typer.Option("--budget", help="Time for compiling, such as 600, 10m or 2h.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger of fixes. Default: the one in your data folder.", dir_okay=False),
]


def header_folder(folder: Path | None) -> Path | None:
    """The value of --hip-headers, as an absolute path."""
    if folder is not None and not folder.is_dir():
        raise UserError(f"--hip-headers {folder} is not a folder")
    return folder.resolve() if folder else None
