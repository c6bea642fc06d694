from __future__ import annotations

import os
import stat

import pytest

from rocm3d.workspace.fetch import FetchError, fetch_checkout, opened_fetch, store_origin


@pytest.fixture
def served(tmp_path, git):
    """Makes a repository with these files; returns its path and commit."""

    def make(files, name="served"):
        root = tmp_path / name
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        return root, git(root, "rev-parse", "HEAD").strip()

    return make


@pytest.fixture
def user(tmp_path, monkeypatch):
    """Writes the configuration of the user, who allows files as a transport."""
    path = tmp_path / "gitconfig"

    def configure(text=""):
        path.write_text(f'[protocol "file"]\n\tallow = always\n{text}')

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    path.write_text("")
    return configure


def program(path, mark):
    """A program that leaves a mark."""
    path.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("url", ["", "-uevil", "--upload-pack=evil", "https://host/a\nb", "\0"])
def test_text_that_is_no_url_is_refused(tmp_path, url):
    with pytest.raises(FetchError, match="is not a URL"):
        fetch_checkout(url, "0" * 40, tmp_path / "new")


@pytest.mark.parametrize("commit", ["", "main", "--help", "0" * 39, "refs/heads/main"])
def test_only_a_commit_is_fetched(tmp_path, commit):
    with pytest.raises(FetchError, match="no commit"):
        fetch_checkout("https://host/a", commit, tmp_path / "new")


def test_files_are_no_transport_unless_the_user_allows_them(served, tmp_path, user):
    root, commit = served({"a.cu": b"int a;\n"})

    with pytest.raises(FetchError, match="transport 'file' not allowed"):
        fetch_checkout(str(root), commit, tmp_path / "new")


@pytest.mark.parametrize("setting", ["always", "user"])
@pytest.mark.parametrize("scheme", ["ext", "fd", "foo"])
def test_other_transports_never_start(tmp_path, user, monkeypatch, setting, scheme):
    """Not even if the user allows them: the URL is the repository's."""
    mark = tmp_path / "mark"
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder / "git-remote-foo", mark)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    allowed = "" if scheme == "foo" else f'[protocol "{scheme}"]\n\tallow = {setting}\n'
    user(allowed)

    for _ in range(2):
        with pytest.raises(FetchError, match="not allowed"):
            fetch_checkout(f"{scheme}::sh -c touch% {mark}", "0" * 40, tmp_path / f"new-{os.urandom(4).hex()}")
        monkeypatch.setenv("GIT_ALLOW_PROTOCOL", f"{scheme}:file")
    assert not mark.exists()


def test_a_fetch_that_fails_names_the_reason_without_credentials(tmp_path, user):
    user()
    with pytest.raises(FetchError) as failure:
        fetch_checkout(f"file://{tmp_path}/gone", "0" * 40, tmp_path / "new")
    assert "does not appear to be a git repository" in failure.value.message
    assert "\n" not in failure.value.message


def test_a_commit_that_the_repository_does_not_have_is_named(served, tmp_path, user):
    user()
    root, _ = served({"a": b""})
    with pytest.raises(FetchError, match="has no commit 000000000000"):
        fetch_checkout(f"file://{root}", "0" * 40, tmp_path / "new")


def test_programs_that_the_repository_names_do_not_start(served, tmp_path, user):
    """Filters by its attributes and its own configuration, hooks, and its settings for transports."""
    mark = tmp_path / "mark"
    evil = program(tmp_path / "evil", mark)
    user()
    attributes = b"* filter=evil diff=evil merge=evil\n"
    root, commit = served({"a.cu": b"int a;\n", ".gitattributes": attributes, ".lfsconfig": b"[lfs]\n\turl = evil\n"})
    around = tmp_path / "around"
    for repository in (root, around):
        repository.mkdir(exist_ok=True)
        (repository / ".git").mkdir(exist_ok=True)
        with (repository / ".git" / "config").open("a") as stream:
            for key in ("clean", "smudge", "process"):
                stream.write(f'[filter "evil"]\n\t{key} = {evil}\n')
            stream.write(f"[core]\n\tsshCommand = {evil}\n\tgitProxy = {evil}\n\tfsmonitor = {evil}\n")
            stream.write(f'[uploadpack]\n\tpackObjectsHook = {evil}\n[credential]\n\thelper = "!{evil}"\n')
        hooks = repository / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for hook in ("post-checkout", "reference-transaction", "pre-auto-gc"):
            program(hooks / hook, mark)

    fetch_checkout(f"file://{root}", commit, around / "new")

    assert (around / "new" / "a.cu").read_bytes() == b"int a;\n"
    assert not mark.exists()


def test_the_users_filters_do_not_start_either(served, tmp_path, user):
    """The attributes of the repository would choose what they get."""
    mark = tmp_path / "mark"
    user(f'[filter "lfs"]\n\tsmudge = {program(tmp_path / "smudge", mark)}\n\trequired = true\n')
    root, commit = served({"a.cu": b"pointer\n", ".gitattributes": b"*.cu filter=lfs\n"})

    fetch_checkout(f"file://{root}", commit, tmp_path / "new")

    assert (tmp_path / "new" / "a.cu").read_bytes() == b"pointer\n"
    assert not mark.exists()


def test_a_hook_that_runs_us_does_not_redirect_the_fetch(served, tmp_path, user, monkeypatch, git):
    """git sets GIT_DIR and more for hooks."""
    user()
    root, commit = served({"a.cu": b"int a;\n"})
    other, _ = served({"b": b""}, "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path))

    fetch_checkout(f"file://{root}", commit, tmp_path / "new")

    assert (tmp_path / "new" / "a.cu").exists()


def test_settings_of_the_user_count(served, tmp_path, user):
    """`insteadOf`, such as a mirror or another protocol."""
    _, commit = served({"a.cu": b"int a;\n"})
    user(f'[url "file://{tmp_path}/"]\n\tinsteadOf = https://host/\n')

    fetch_checkout("https://host/served", commit, tmp_path / "new")

    assert (tmp_path / "new" / "a.cu").read_bytes() == b"int a;\n"


def test_settings_for_the_place_of_the_checkout_count(served, tmp_path, user):
    _, commit = served({"a.cu": b"int a;\n"})
    included = tmp_path / "included"
    included.write_text(f'[url "file://{tmp_path}/"]\n\tinsteadOf = https://host/\n')
    (tmp_path / "work").mkdir()
    user(f'[includeIf "gitdir:{tmp_path}/work/"]\n\tpath = {included}\n')

    fetch_checkout("https://host/served", commit, tmp_path / "work" / "new")

    assert (tmp_path / "work" / "new" / "a.cu").exists()


def test_protocols_of_the_environment_count(served, tmp_path, user, monkeypatch):
    root, commit = served({"a.cu": b"int a;\n"})
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")

    fetch_checkout(str(root), commit, tmp_path / "new")
    with pytest.raises(FetchError, match="transport 'https' not allowed"):
        fetch_checkout("https://host/a", commit, tmp_path / "other")


def test_an_older_commit_is_fetched_without_the_history(served, tmp_path, user, git):
    user()
    root, commit = served({"a.cu": b"int a;\n"})
    (root / "a.cu").write_bytes(b"int b;\n")
    git(root, "commit", "-qam", "second")

    fetch_checkout(f"file://{root}", commit, tmp_path / "new")

    assert (tmp_path / "new" / "a.cu").read_bytes() == b"int a;\n"
    assert opened_fetch(tmp_path / "new").output("rev-list", "--count", "--all", "HEAD").strip() == "1"
    assert git(tmp_path / "new", "status", "--porcelain") == ""


def test_a_server_that_serves_no_commit_by_its_id_is_fetched_completely(served, tmp_path, user, git, monkeypatch):
    user("[protocol]\n\tversion = 0\n")
    root, commit = served({"a.cu": b"int a;\n"})
    (root / "a.cu").write_bytes(b"int b;\n")
    git(root, "commit", "-qam", "second")

    fetch_checkout(f"file://{root}", commit, tmp_path / "new")

    assert (tmp_path / "new" / "a.cu").read_bytes() == b"int a;\n"


def test_a_checkout_that_stays_knows_where_it_came_from(served, tmp_path, user, git):
    user()
    root, commit = served({"a.cu": b"int a;\n"})
    fetch_checkout(f"file://{root}", commit, tmp_path / "new")

    store_origin(tmp_path / "new", f"file://{root}")

    git(tmp_path / "new", "fetch", "-q")
    assert git(tmp_path / "new", "rev-parse", "origin/main").strip() == commit


def test_a_commit_of_a_sha256_repository_is_fetched(tmp_path, git, user):
    user()
    root = tmp_path / "served"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    (root / "a.cu").write_bytes(b"int a;\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")

    fetch_checkout(f"file://{root}", git(root, "rev-parse", "HEAD").strip(), tmp_path / "new")

    assert (tmp_path / "new" / "a.cu").read_bytes() == b"int a;\n"
