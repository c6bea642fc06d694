"""Checkouts whose configuration starts a program, one per way that git offers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

# Names of settings whose value is a program.
_PROGRAM_SETTINGS = (
    "core.askPass", "core.editor", "core.pager", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand",
    "core.fsmonitor", "credential.helper", "diff.external", "diff.evil.command", "diff.evil.textconv",
    "merge.evil.driver", "pager.status", "pager.config", "pager.rev-parse", "pager.cat-file", "sequence.editor",
    "gpg.program", "interactive.diffFilter", "uploadpack.packObjectsHook", "trace2.eventTarget",
    "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "remote.origin.uploadpack",
)  # fmt: skip
_ALIASES = ("status", "config", "rev-parse", "cat-file", "ls-files", "check-attr", "check-ignore")


def git(root: Path, *arguments: object, variables: dict[str, str] | None = None) -> str:
    """Real git with an identity, and without settings of the user."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "gc.auto=0")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **(variables or {})}
    command = ["git", "-C", str(root), *settings, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert ended.returncode == 0, f"{command}: {ended.stderr.decode()}"
    return ended.stdout.decode()


class HostileCheckout:
    """A checkout at `root` that starts `program`, which creates `trace`."""

    def __init__(self, scratch: Path, root: Path) -> None:
        self.scratch, self.root = scratch, root
        self.program, self.trace = scratch / "program.sh", scratch / "ran"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{self.trace}'\nexit 1\n")
        self.program.chmod(0o755)

    def configure(self, repository: Path, *options: str, settings: tuple[str, ...] = ()) -> None:
        """Set filters and other settings to the program, in a configuration that `options` name."""
        for setting in settings or ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
            git(repository, "config", *options, setting, self.program)

    def select_filter(self, repository: Path) -> None:
        """All files have the filter and drivers named evil."""
        (repository / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "attributes")

    def add_submodule(self, path: str = "libs/knn") -> Path:
        """A checked-out submodule whose files have the filter."""
        origin = self.scratch / "module-origin"
        origin.mkdir(exist_ok=True)
        (origin / "knn.cu").write_text("__global__ void knn() {}\n")
        git(origin, "init", "-q")
        self.select_filter(origin)
        git(self.root, "submodule", "--quiet", "add", origin, path)
        git(self.root, "commit", "-qm", "submodule")
        return self.root / path


def make_stale(folder: Path) -> None:
    """New modification times, so that git compares contents."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(folder).parts:
            os.utime(path, (1, 1))


def _filter_in_configuration(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.root)


def _filter_in_work_tree_configuration(checkout: HostileCheckout) -> None:
    git(checkout.root, "config", "extensions.worktreeConfig", "true")
    checkout.configure(checkout.root, "--worktree")


def _filter_in_included_file(checkout: HostileCheckout) -> None:
    included = checkout.root / ".git" / "more"
    checkout.configure(checkout.root, "--file", str(included))
    git(checkout.root, "config", "include.path", "more")


def _filter_in_conditional_file(checkout: HostileCheckout) -> None:
    included = checkout.root / ".git" / "more"
    checkout.configure(checkout.root, "--file", str(included))
    git(checkout.root, "config", f"includeIf.gitdir:{checkout.root}/.path", "more")


def _filter_of_submodule(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.add_submodule())


def _filter_of_submodule_work_tree(checkout: HostileCheckout) -> None:
    module = checkout.add_submodule()
    git(module, "config", "extensions.worktreeConfig", "true")
    checkout.configure(module, "--worktree")


def _filter_of_inner_submodule(checkout: HostileCheckout) -> None:
    module = checkout.add_submodule()
    inner_origin = checkout.scratch / "inner-origin"
    shutil.copytree(checkout.scratch / "module-origin", inner_origin)
    git(module, "submodule", "--quiet", "add", inner_origin, "inner")
    git(module, "commit", "-qm", "inner")
    git(checkout.root, "commit", "-qam", "inner")
    checkout.configure(module / "inner")


def _file_monitor(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.root, settings=("core.fsmonitor",))


def _file_monitor_of_submodule(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.add_submodule(), settings=("core.fsmonitor",))


def _hooks(checkout: HostileCheckout) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction", "pre-auto-gc"):
        shutil.copy(checkout.program, checkout.root / ".git" / "hooks" / name)


def _hooks_elsewhere(checkout: HostileCheckout) -> None:
    folder = checkout.root / "hooks"
    folder.mkdir()
    shutil.copy(checkout.program, folder / "post-index-change")
    git(checkout.root, "add", ".")
    git(checkout.root, "commit", "-qm", "hooks")
    git(checkout.root, "config", "core.hooksPath", "hooks")


def _all_program_settings(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.root, settings=_PROGRAM_SETTINGS)
    for name in _ALIASES:
        git(checkout.root, "config", f"alias.{name}", f"!{checkout.program}")


def _git_folder_elsewhere(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.root, settings=_PROGRAM_SETTINGS)
    (checkout.root / ".git").rename(checkout.root / "data")
    (checkout.root / "data" / "info" / "exclude").write_text("/data/\n")
    (checkout.root / ".git").write_text("gitdir: data\n")


def _work_tree_elsewhere(checkout: HostileCheckout) -> None:
    checkout.configure(checkout.root)
    other = checkout.scratch / "other"
    shutil.copytree(checkout.root, other, ignore=shutil.ignore_patterns(".git"))
    git(checkout.root, "config", "core.worktree", other)
    make_stale(other)


def _partial_clone(missing: str, *settings: tuple[str, str]) -> Callable[[HostileCheckout], None]:
    """Without an object, which git would fetch with a program of the repository."""

    def attack(checkout: HostileCheckout) -> None:
        root, program = checkout.root, str(checkout.program)
        name = git(root, "rev-parse", missing).strip()
        values = {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": str(checkout.scratch / "nowhere"),
            "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
            **{key: value.replace("PROGRAM", program) for key, value in settings},
        }
        if missing.endswith(":"):
            # With the cached trees of the index, git would not need that object.
            git(root, "update-index", "--force-remove", ".gitattributes")
        for key, value in values.items():
            git(root, "config", key, value)
        (root / ".git" / "objects" / name[:2] / name[2:]).unlink()

    return attack


_UPLOAD_PACK = ("remote.origin.uploadpack", "PROGRAM")
ATTACKS: dict[str, Callable[[HostileCheckout], None]] = {
    "filter in .git/config": _filter_in_configuration,
    "filter in .git/config.worktree": _filter_in_work_tree_configuration,
    "filter in an included file": _filter_in_included_file,
    "filter in a file included by condition": _filter_in_conditional_file,
    "filter of a submodule": _filter_of_submodule,
    "filter of a submodule's config.worktree": _filter_of_submodule_work_tree,
    "filter of a submodule in a submodule": _filter_of_inner_submodule,
    "file monitor": _file_monitor,
    "file monitor of a submodule": _file_monitor_of_submodule,
    "hooks": _hooks,
    "hooks in core.hooksPath": _hooks_elsewhere,
    "every setting that names a program": _all_program_settings,
    "data of git in another folder": _git_folder_elsewhere,
    "work tree in another folder": _work_tree_elsewhere,
    "partial clone without its commit": _partial_clone("HEAD", _UPLOAD_PACK),
    "partial clone without its tree": _partial_clone("HEAD:", _UPLOAD_PACK),
    "partial clone without a file": _partial_clone("HEAD:a.py", _UPLOAD_PACK),
    "partial clone by ext": _partial_clone(
        "HEAD:", ("remote.origin.url", "ext::PROGRAM x"), ("protocol.ext.allow", "always")
    ),
    "partial clone by ssh": _partial_clone(
        "HEAD:", ("remote.origin.url", "ssh://localhost/x"), ("core.sshCommand", "PROGRAM")
    ),
    "partial clone by a proxy": _partial_clone(
        "HEAD:", ("remote.origin.url", "git://localhost/x"), ("core.gitProxy", "PROGRAM")
    ),
}


def hostile_checkout(scratch: Path, attack: str, files: Path | None = None) -> HostileCheckout:
    """A checkout of these files, or of a.py, with this attack."""
    root = scratch / "repo"
    if files is not None:
        shutil.copytree(files, root, ignore=shutil.ignore_patterns(".rocm3d"))
    root.mkdir(exist_ok=True)
    (root / "a.py").write_text("# long enough for git to see that it was moved\n")
    git(root, "init", "-q", "-b", "main")
    checkout = HostileCheckout(scratch, root)
    checkout.select_filter(root)
    ATTACKS[attack](checkout)
    make_stale(root)
    checkout.trace.unlink(missing_ok=True)
    return checkout
