"""Ecosystem benchmark: archives are fetched by digest, unpacked within limits, and changes are shown. Loopback only."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import ecosystem
import pytest

SETUP = b"from torch.utils.cpp_extension import CUDA_HOME\nif CUDA_HOME is not None:\n    print()\n"
TINY = {"tiny-1.0/setup.py": SETUP, "tiny-1.0/tiny/__init__.py": b""}


def tar(path: Path, files: dict[str, bytes], *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as out:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
        for info in more:
            out.addfile(info)
    return path


def wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(name, data)
    return path


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def files_below(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() or path.is_symlink()}


@pytest.mark.parametrize("name", ["../out.py", "/out.py", "a/../../out.py", "..", "a\\..\\out.py"])
@pytest.mark.parametrize("pack", [partial(tar), partial(wheel)], ids=["tar", "wheel"])
def test_path_outside_the_folder_is_refused(tmp_path, name, pack):
    archive = pack(tmp_path / ("a.whl" if pack.func is wheel else "a.tar.gz"), {"ok/a.py": b"", name: b"x"})

    with pytest.raises(ecosystem.ArchiveRefusedError, match="outside"):
        ecosystem.unpack(archive, tmp_path / "in" / "target")
    assert not list(tmp_path.rglob("out.py"))


def test_links_and_pipes_are_left_out_and_nothing_is_written_through_them(tmp_path):
    (tmp_path / "secret").mkdir()
    entries = (
        link("p/out", str(tmp_path / "secret")),
        link("p/hard", "p/a.py", tarfile.LNKTYPE),
        link("p/pipe", "", tarfile.FIFOTYPE),
    )
    through = tarfile.TarInfo("p/out/a.py")

    root = ecosystem.unpack(tar(tmp_path / "a.tar.gz", {"p/a.py": b"x"}, *entries, through), tmp_path / "target")

    assert files_below(root) == {"a.py", "out/a.py"}
    assert not list((tmp_path / "secret").iterdir())


def test_a_link_in_a_wheel_is_left_out(tmp_path):
    archive = tmp_path / "a.whl"
    with zipfile.ZipFile(archive, "w") as out:
        info = zipfile.ZipInfo("p/out")
        info.external_attr = 0o120777 << 16
        out.writestr(info, "/etc/passwd")
        out.writestr("p/a.py", "")

    assert files_below(ecosystem.unpack(archive, tmp_path / "target")) == {"a.py"}


@pytest.mark.parametrize("pack", [partial(tar), partial(wheel)], ids=["tar", "wheel"])
def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path, pack):
    archive = pack(
        tmp_path / ("a.whl" if pack.func is wheel else "a.tar.gz"), {"p/a": bytes(800_000), "p/b": bytes(800_000)}
    )

    with pytest.raises(ecosystem.ArchiveRefusedError, match="more than is allowed"):
        ecosystem.unpack(archive, tmp_path / "target", max_bytes=1_000_000)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 1_100_000


def test_header_that_claims_gigabytes_is_refused(tmp_path):
    """A tar header of type x is read as one piece, whatever size it claims."""
    info = tarfile.TarInfo("p/header")
    info.type, info.size = tarfile.XHDTYPE, 5_000_000_000
    with gzip.open(tmp_path / "a.tar.gz", "wb") as out:
        out.write(info.tobuf() + bytes(1_000_000))

    with pytest.raises(ecosystem.ArchiveRefusedError, match="more than is allowed"):
        ecosystem.unpack(tmp_path / "a.tar.gz", tmp_path / "target", max_bytes=1_000_000)


def test_a_file_that_claims_to_be_huge_is_not_skipped_through(tmp_path):
    info = tarfile.TarInfo("p/device")
    info.type, info.size = tarfile.CONTTYPE, 5_000_000_000
    with gzip.open(tmp_path / "a.tar.gz", "wb") as out:
        out.write(info.tobuf() + bytes(1_000_000))

    with pytest.raises(ecosystem.ArchiveRefusedError):
        ecosystem.unpack(tmp_path / "a.tar.gz", tmp_path / "target", max_bytes=1_000_000)


def test_too_many_files_are_refused(tmp_path):
    archive = tar(tmp_path / "a.tar.gz", {f"p/{number}": b"" for number in range(11)})

    with pytest.raises(ecosystem.ArchiveRefusedError, match="more than 10 files"):
        ecosystem.unpack(archive, tmp_path / "target", max_files=10)


@pytest.mark.parametrize("data", [b"", b"nonsense", gzip.compress(b"x" * 700, mtime=0)[:-9]])
@pytest.mark.parametrize("name", ["a.tar.gz", "a.whl"])
def test_what_is_no_archive_is_refused(tmp_path, data, name):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(ecosystem.ArchiveRefusedError, match="cannot be unpacked"):
        ecosystem.unpack(tmp_path / name, tmp_path / "target")


def test_one_folder_around_everything_is_the_root(tmp_path):
    assert ecosystem.unpack(tar(tmp_path / "a.tar.gz", TINY), tmp_path / "target").name == "tiny-1.0"
    assert ecosystem.unpack(wheel(tmp_path / "a.whl", {"a.py": b"", "b/c.py": b""}), tmp_path / "w").name == "w"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index on loopback with one archive, and the options that name it."""
    (tmp_path / "site" / "simple" / "tiny").mkdir(parents=True)
    archive = tar(tmp_path / "site" / "tiny-1.0.tar.gz", TINY)
    page = tmp_path / "site" / "simple" / "tiny" / "index.html"
    page.write_text('<a href="/tiny-1.0.tar.gz">tiny-1.0.tar.gz</a>')
    handler = partial(_SilentHandler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_address[1]}/simple/")
        monkeypatch.delenv("PIP_CERT", raising=False)
        yield Index(tmp_path, archive)
        server.shutdown()


class _SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Say nothing."""


class Index:
    def __init__(self, root: Path, archive: Path) -> None:
        self.root, self.archive = root, archive
        self.snapshot = root / "snapshot.json"

    def write_list(self, *entries: tuple[str, str, int], name: str = "tiny") -> None:
        """Write the list; by default of the one archive as it is."""
        data = self.archive.read_bytes()
        listed_entries = entries or (("tiny-1.0.tar.gz", hashlib.sha256(data).hexdigest(), len(data)),)
        records = [
            f'[[archives]]\nname = "{name}"\nversion = "1.0"\nfile = "{file}"\nsha256 = "{digest}"\nbytes = {size}\n'
            for file, digest, size in listed_entries
        ]
        (self.root / "list.toml").write_text("".join(records))

    def run(self, *options: str) -> int:
        places = ("--list", "list.toml"), ("--snapshot", "snapshot.json"), ("--folder", "cache")
        return ecosystem.main([*options, *(word for name, file in places for word in (name, str(self.root / file)))])


def test_wrong_digest_is_refused_and_deleted(index, capsys):
    index.write_list(("tiny-1.0.tar.gz", "0" * 64, index.archive.stat().st_size))

    assert index.run() == 1
    assert "tiny-1.0.tar.gz: refused: its digest differs from the list" in capsys.readouterr().err
    assert not (index.root / "cache" / "tiny-1.0.tar.gz").exists()


def test_a_file_larger_than_listed_is_cut_off(index, capsys):
    index.write_list(("tiny-1.0.tar.gz", "0" * 64, 20))

    assert index.run() == 1
    assert "larger than the 20 bytes" in capsys.readouterr().err


def test_file_missing_from_the_index_exits_4(index, capsys):
    index.write_list(("tiny-1.0-other.tar.gz", "0" * 64, 20))
    index.snapshot.write_text("{}")

    assert index.run() == 4
    assert "not run: tiny-1.0-other.tar.gz: not available: the index has no" in capsys.readouterr().err


def test_no_network_exits_4_in_one_line_each(index, monkeypatch, capsys):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    index.write_list()
    index.snapshot.write_text("{}")

    assert index.run() == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("not run: tiny-1.0.tar.gz: not available: ")


def test_a_list_beyond_the_limit_is_refused_before_any_download(index, capsys):
    index.write_list(("tiny-1.0.tar.gz", "0" * 64, 200_000_001))

    assert index.run() == 2
    assert "more than 200 MB" in capsys.readouterr().err


def test_an_update_without_everything_writes_nothing(index):
    index.write_list(("tiny-1.0-other.tar.gz", "0" * 64, 20))

    index.run("--update")

    assert not index.snapshot.exists()


def test_the_snapshot_is_written_and_holds_and_a_change_is_a_diff(index, capsys):
    index.write_list()

    assert index.run("--update") == 0
    summary = json.loads(index.snapshot.read_text())["tiny-1.0.tar.gz"]
    assert summary["files"]["files"] == 2
    assert summary["codes"]["BLD201 error"] == 1
    assert index.run() == 0
    index.snapshot.write_text(index.snapshot.read_text().replace('"BLD201 error": 1', '"BLD201 error": 7'))
    capsys.readouterr()
    assert index.run() == 1
    shown = capsys.readouterr().out
    assert '-   "BLD201 error": 7' in shown
    assert '+   "BLD201 error": 1' in shown


def test_downloaded_archive_is_not_fetched_again(index):
    index.write_list()
    assert index.run("--update") == 0
    index.archive.write_bytes(b"")

    assert index.run() == 0


def test_nothing_of_an_archive_is_executed(index):
    mark = index.root / "ran"
    tar(index.archive, {"tiny-1.0/setup.py": f"open({str(mark)!r}, 'w')\n".encode()})
    index.write_list()

    assert index.run("--update") == 0
    assert not mark.exists()


def test_the_list_of_the_repository_is_sorted_and_within_the_limit():
    archives = ecosystem.load(ecosystem.HERE / "ecosystem.toml")

    assert [archive.name for archive in archives] == sorted({archive.name for archive in archives})
    assert all(len(archive.sha256) == 64 and archive.version in archive.file for archive in archives)


def test_the_snapshot_of_the_repository_is_that_of_its_list():
    known = json.loads((ecosystem.HERE / "ecosystem-snapshot.json").read_text())

    assert set(known) == {archive.file for archive in ecosystem.load(ecosystem.HERE / "ecosystem.toml")}
