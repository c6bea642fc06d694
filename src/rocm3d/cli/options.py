"""Options that several subcommands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocm3d.model.plan_choices import LicenceRule, Platform, Preference
from rocm3d.render.formats import format_names, join_alternatives

if TYPE_CHECKING:
    from rocm3d.model.base import Document


def format_option(kind: type[Document] | str) -> Any:
    """The option --format for a command that shows this kind of document."""
    return typer.Option("--format", help=f"{join_alternatives(format_names(kind))}.")


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
Folder = Annotated[str, typer.Option("--folder", help="Folder in the repository for added files.")]
Review = Annotated[bool, typer.Option("--review", help="Also make the edits that need your review.")]
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
Level = Annotated[list[str], typer.Option("--level", help="A level to check; repeatable. Default: all.")]
TargetList = Annotated[str, typer.Option("--target", help="gfx ids to compile for, separated by commas.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger of fixes. Default: the one in your data folder.", dir_okay=False),
]
