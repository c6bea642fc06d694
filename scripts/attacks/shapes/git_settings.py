"""Settings of the repository by which git starts programs, and repositories that git reads elsewhere."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from attacks.cases import run_git
from attacks.site import Site

# Settings whose value is a program. All of them are set at once: the marks name those that ran.
PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.askPass", "core.editor", "core.pager", "core.alternateRefsCommand",
    "gpg.program", "gpg.ssh.program", "diff.external", "credential.helper", "sequence.editor",
    "uploadpack.packObjectsHook", "trace2.eventTarget", "core.gitProxy", "interactive.diffFilter",
    "pager.status", "pager.diff",
)  # fmt: skip
HOOKS = (
    "post-index-change", "post-checkout", "pre-commit", "fsmonitor-watchman", "reference-transaction", "post-merge",
    "pre-auto-gc", "applypatch-msg", "pre-applypatch", "post-applypatch",
)  # fmt: skip
ATTRIBUTES = "* filter=evil diff=evil merge=evil\n"


def _filters(site: Site, prefix: str) -> str:
    """Filters and drivers of the attribute `evil`."""
    program = {name: site.program(f"{prefix}-{name}") for name in ("clean", "smudge", "process", "textconv", "merge")}
    kind = site.random.choice(["clean", "process"])
    chosen = f"\tclean = {program['clean']}\n\tsmudge = {program['smudge']}\n"
    chosen += f"\tprocess = {program['process']}\n" if kind == "process" else ""
    return (
        f'[filter "evil"]\n{chosen}\trequired = {site.random.choice(["true", "false"])}\n'
        f'[diff "evil"]\n\ttextconv = {program["textconv"]}\n\tcommand = {program["textconv"]}\n'
        f'[merge "evil"]\n\tdriver = {program["merge"]}\n'
    )


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"\n{text}")


def _with_attributes(site: Site) -> None:
    site.write(".gitattributes", ATTRIBUTES)
    with contextlib.suppress(Exception):
        run_git(site.tree, "add", "--force", ".gitattributes")
        run_git(site.tree, "commit", "--quiet", "-m", "attributes")


def filters_in_config(site: Site) -> None:
    _with_attributes(site)
    _append(site.tree / ".git" / "config", _filters(site, "config"))
    site.age()


def filters_in_config_of_the_worktree(site: Site) -> None:
    _with_attributes(site)
    _append(site.tree / ".git" / "config", "[extensions]\n\tworktreeConfig = true\n")
    _append(site.tree / ".git" / "config.worktree", _filters(site, "worktree"))
    site.age()


def filters_in_an_included_file(site: Site) -> None:
    _with_attributes(site)
    included = site.write(".evil/more.cfg", _filters(site, "included"))
    condition = site.random.choice(["include", f'includeIf "gitdir:{site.tree}/"', 'includeIf "onbranch:main"'])
    _append(site.tree / ".git" / "config", f"[{condition}]\n\tpath = {included}\n")
    site.age()


def attributes_outside_the_commit(site: Site) -> None:
    """Filters for paths by .git/info/attributes or core.attributesFile."""
    if site.random.random() < 0.5:
        (site.tree / ".git" / "info").mkdir(exist_ok=True)
        _append(site.tree / ".git" / "info" / "attributes", ATTRIBUTES)
    else:
        attributes = site.write(".evil/attributes", ATTRIBUTES)
        _append(site.tree / ".git" / "config", f"[core]\n\tattributesFile = {attributes}\n")
    _append(site.tree / ".git" / "config", _filters(site, "attributes"))
    site.age()


def programs_in_config(site: Site) -> None:
    lines = []
    for name in PROGRAMS:
        section, _, key = name.rpartition(".")
        first, _, rest = section.partition(".")
        title = f'{first} "{rest}"' if rest else first
        lines.append(f"[{title}]\n\t{key} = {site.program(name.replace('.', '-'))}\n")
    _append(
        site.tree / ".git" / "config", "".join(lines) + "[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n"
    )
    site.age()


def hooks(site: Site) -> None:
    folder = site.random.choice([".git/hooks", ".evil/hooks"])
    for name in HOOKS:
        site.program(f"hook-{name}", f"{folder}/{name}")
    if folder != ".git/hooks":
        _append(site.tree / ".git" / "config", f"[core]\n\thooksPath = {site.tree / folder}\n")
    site.age()


def partial_clone(site: Site) -> None:
    """Objects are missing, and git would fetch them by a program of the repository."""
    program = site.program("uploadpack")
    url = site.random.choice([str(site.world / "gone"), f"ext::{program}", "ssh://host.invalid/a", str(site.tree)])
    _append(
        site.tree / ".git" / "config",
        "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n"
        f'[remote "origin"]\n\turl = {url}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n'
        f"\tuploadpack = {program}\n\tvcs = evil\n[core]\n\tsshCommand = {program}\n",
    )
    objects = sorted((site.tree / ".git" / "objects").glob("??/*"))
    for path in site.random.sample(objects, min(8, len(objects))):
        path.unlink()
    site.age()


def submodule_with_filters(site: Site) -> None:
    """A submodule whose own configuration has filters; its commit is in the index."""
    module = site.tree / "libs" / "knn"
    module.mkdir(parents=True, exist_ok=True)
    (module / "kernel.cu").write_text("#include <device_launch_parameters.h>\n", encoding="utf-8")
    (module / ".gitattributes").write_text(ATTRIBUTES, encoding="utf-8")
    run_git(module, "init", "--quiet", "--initial-branch=main")
    run_git(module, "add", "--all")
    run_git(module, "commit", "--quiet", "-m", "start")
    url = site.random.choice(["https://host.invalid/knn.git", "ext::sh -c touch% mark", "../outside", "-u./evil"])
    update = f"\tupdate = !{site.shell('submodule-update')}\n" if site.random.random() < 0.5 else ""
    site.write(".gitmodules", f'[submodule "knn"]\n\tpath = libs/knn\n\turl = {url}\n{update}')
    run_git(site.tree, "add", "--all", "--force")
    run_git(site.tree, "commit", "--quiet", "-m", "submodule")
    if site.random.random() < 0.5:
        folder = site.tree / ".git" / "modules" / "knn"
        folder.parent.mkdir(exist_ok=True)
        (module / ".git").rename(folder)
        (module / ".git").write_text("gitdir: ../../.git/modules/knn\n", encoding="utf-8")
        _append(folder / "config", f"[core]\n\tworktree = ../../../libs/knn\n{_filters(site, 'submodule')}")
    else:
        _append(module / ".git" / "config", _filters(site, "submodule"))
    _append(site.tree / ".git" / "config", f'[submodule "knn"]\n\turl = {url}\n\tupdate = !{site.shell("update")}\n')
    site.age()
    os.utime(module / "kernel.cu", (1_700_000_001, 1_700_000_001))


def git_folder_elsewhere(site: Site) -> None:
    """.git is a file or link that names a folder outside; its configuration has filters."""
    real = site.outside / "repository.git"
    (site.tree / ".git").rename(real)
    if site.random.random() < 0.5:
        (site.tree / ".git").write_text(f"gitdir: {real}\n", encoding="utf-8")
    else:
        (site.tree / ".git").symlink_to(real)
    (site.tree / ".gitattributes").write_text(ATTRIBUTES, encoding="utf-8")
    _append(real / "config", _filters(site, "elsewhere"))
    site.age()


def common_folder_elsewhere(site: Site) -> None:
    (site.tree / ".git" / "commondir").write_text(f"{site.outside}\n", encoding="utf-8")
    _append(site.tree / ".git" / "config", _filters(site, "common"))


def damaged_git(site: Site) -> None:
    """Something of .git that git itself refuses."""
    kind = site.random.randrange(6)
    folder = site.tree / ".git"
    if kind == 0:
        (folder / "HEAD").write_bytes(b"\xff" * 100)
    elif kind == 1:
        (folder / "index").write_bytes(b"DIRC" + b"\xff" * 500)
    elif kind == 2:
        (folder / "config").write_text('[core\n\trepositoryformatversion = 99\n"', encoding="utf-8")
    elif kind == 3:
        (folder / "HEAD").write_text("ref: ../../../outside/notes.txt\n", encoding="utf-8")
    elif kind == 4:
        os.mkfifo(folder / "config.worktree")
        _append(folder / "config", "[extensions]\n\tworktreeConfig = true\n")
    else:
        (folder / "info").mkdir(exist_ok=True)
        (folder / "objects" / "info" / "alternates").write_text(f"{site.outside}\n../../outside\n", encoding="utf-8")


SHAPES = (
    filters_in_config, filters_in_config_of_the_worktree, filters_in_an_included_file, attributes_outside_the_commit,
    programs_in_config, hooks, partial_clone, submodule_with_filters, git_folder_elsewhere, common_folder_elsewhere,
    damaged_git,
)  # fmt: skip
