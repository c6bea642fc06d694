"""Options that several subcommands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocm3d.model.wish import LicenceRule, Platform, Preference
from rocm3d.render.formats import listed, names

if TYPE_CHECKING:
    from rocm3d.model.base import Document


def form(kind: type[Document] | str) -> Any:
    """The option --format of a command that shows this kind of document."""
    return typer.Option("--format", help=f"{listed(names(kind))}.")


Target = Annotated[Path, typer.Argument(metavar="PATH", help="The repository's folder.", show_default=False)]
Gpu = Annotated[
    str | None,
    typer.Option("--gpu", help="Product or gfx id, for example mi300x or gfx1100; left out: this machine's AMD GPU."),
]
Stack = Annotated[str | None, typer.Option(help="Take this stack instead of the best one; see kb query stacks.")]
Rocm = Annotated[str, typer.Option("--rocm", help="Only stacks of this ROCm release or range: 7.2, or '>=6.4,<8'.")]
Prefer = Annotated[
    Preference, typer.Option("--prefer", help="What decides between stacks that serve equally many packages.")
]
PlatformName = Annotated[Platform, typer.Option("--platform", help="Where it is going to run.")]
KeepTorch = Annotated[
    bool, typer.Option("--keep-torch", help="Plan for the ROCm torch that is installed: system, container or pip.")
]
Python = Annotated[
    Path | None,
    typer.Option("--python", help="The target's interpreter; left out: PATH/.venv, then $VIRTUAL_ENV.", dir_okay=False),
]
LicencePolicy = Annotated[
    LicenceRule | None,
    typer.Option("--licence-policy", help="What to do about components whose terms forbid some use; default report."),
]
Only = Annotated[list[str], typer.Option("--only", help="Run only these rules or code prefixes: a,b or repeated.")]
Skip = Annotated[list[str], typer.Option("--skip", help="Leave these rules or code prefixes out: a,b or repeated.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the result to this file.", dir_okay=False)]
Work = Annotated[
    Path | None, typer.Option("--work", help="Keep documents here instead of PATH/.rocm3d.", file_okay=False)
]
Into = Annotated[
    Path | None, typer.Option("--into", help="Port a copy at this new folder; PATH stays as it is.", file_okay=False)
]
Folder = Annotated[str, typer.Option("--folder", help="The port's own folder inside the repository.")]
Review = Annotated[bool, typer.Option("--review", help="Also make the edits that want a look.")]
OnlyEdits = Annotated[
    list[str],
    typer.Option("--only", help="Make only edits of these rules, code prefixes or recipes: a,b or repeated."),
]
SkipEdits = Annotated[
    list[str],
    typer.Option("--skip", help="Leave out edits of these rules, code prefixes or recipes: a,b or repeated."),
]
PatchFile = Annotated[
    Path | None,
    typer.Option("--patch", help="Also write the port to this file, for `git am` or `git apply`.", dir_okay=False),
]
AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Edit in place although the tree has other changes.")]
Level = Annotated[list[str], typer.Option("--level", help="A level to check; repeatable; left out: all.")]
TargetList = Annotated[str, typer.Option("--target", help="gfx ids to compile for, separated by commas.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger of fixes; left out: the one in your data folder.", dir_okay=False),
]
