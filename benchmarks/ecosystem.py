"""Ecosystem benchmark: scan results of packages from PyPI, compared with a stored snapshot.

    python benchmarks/ecosystem.py [--update] [--list FILE] [--snapshot FILE] [--folder DIR]

The archives of ecosystem.toml are downloaded from pip's configured index, by exact file and digest, unpacked without
links and within limits, and scanned without cache. Nothing of them is built, imported or run; pip itself is not used
because it runs setup.py to learn a name. A change is shown as a diff and exits 1; `--update` accepts it. An archive
that could not be fetched is listed and exits 4.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import os
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import httpx2
from unearth import PackageFinder
from unearth.errors import HashMismatchError, UnpackError
from unearth.fetchers import PyPIClient

from rocm3d.model.errors import ExitCode, Rocm3dError, UserError
from rocm3d.model.toml import parse
from rocm3d.workspace.process import run

HERE = Path(__file__).resolve().parent
MAX_DOWNLOAD = 200_000_000  # of all archives together
MAX_BYTES = 500_000_000  # of one archive, unpacked
MAX_FILES = 50_000
SCAN_SECONDS = 900.0
_CHUNK = 1 << 20
_MAX_HEADER_BYTES = 1 << 24


class ArchiveUnavailableError(Exception):
    """The archive could not be downloaded."""


class ArchiveRefusedError(Exception):
    """The archive is invalid; it is not unpacked any further and not scanned."""


@dataclass(frozen=True)
class Archive:
    """One file of an index. `bytes` is its exact size: a download is cut off there."""

    name: str
    version: str
    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class ScanOutcome:
    """A summary for each scanned archive, a reason for each other one."""

    scanned: dict[str, dict[str, Any]]
    unavailable: dict[str, str]
    refused: dict[str, str]


def load(path: Path) -> list[Archive]:
    """Read the list and check its total download size."""
    archives = [Archive(**entry) for entry in parse(path.read_bytes())["archives"]]
    total = sum(archive.bytes for archive in archives)
    if total > MAX_DOWNLOAD:
        raise UserError(f"{path.name}: {total / 1e6:.0f} MB of archives, more than {MAX_DOWNLOAD / 1e6:.0f} MB")
    return archives


def pip_index_url() -> str | None:
    """The index URL that pip is configured with; None for the default."""
    if index := os.environ.get("PIP_INDEX_URL"):
        return index
    config_value = run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "get", "global.index-url"]
    )
    return config_value.stdout.decode().strip() or None if config_value.code == 0 else None


@contextmanager
def index_client(index: str | None) -> Iterator[PackageFinder]:
    """A client of the index. It finds and downloads files and never opens them."""
    certificates = os.environ.get("PIP_CERT")
    with PyPIClient(follow_redirects=True, timeout=60.0, verify=certificates or True) as session:
        yield PackageFinder(session=session, index_urls=[index] if index else [], ignore_compatibility=True)


def fetch(archive: Archive, finder: PackageFinder, folder: Path) -> Path:
    """Download an archive and check its digest; an existing file is not fetched again."""
    try:
        matches = [
            item
            for item in finder.find_matches(f"{archive.name}=={archive.version}", allow_prereleases=True)
            if item.link.filename == archive.file
        ]
        if not matches:
            raise ArchiveUnavailableError(f"the index has no {archive.file}")
        return finder.download(
            matches[0].link, folder, {"sha256": [archive.sha256]}, download_reporter=_size_limit(archive)
        )
    except HashMismatchError as error:
        (folder / archive.file).unlink(missing_ok=True)
        raise ArchiveRefusedError("its digest differs from the list") from error
    except (httpx2.HTTPError, UnpackError, OSError) as error:
        raise ArchiveUnavailableError(" ".join(str(error).split()) or type(error).__name__) from error


def _size_limit(archive: Archive) -> Any:
    def report(link: object, completed: int, total: int | None) -> None:  # noqa: ARG001  (the client's signature)
        if completed > archive.bytes:
            raise ArchiveRefusedError(f"it is larger than the {archive.bytes} bytes of the list")

    return report


def unpack(archive: Path, target: Path, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> Path:
    """Unpack the regular files of an archive and return their root folder. Links and devices are skipped."""
    bytes_left, files = max_bytes, 0
    try:
        for name, stream in _members(archive, max_bytes):
            files += 1
            if files > max_files:
                raise ArchiveRefusedError(f"it contains more than {max_files} files")
            bytes_left -= _write(_target_path(target, name), stream, bytes_left)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise ArchiveRefusedError(f"it cannot be unpacked: {error}") from error
    inside = list(target.iterdir()) if target.is_dir() else []
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else target


def _members(archive: Path, max_bytes: int) -> Iterator[tuple[str, IO[bytes]]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for info in wheel.infolist():
                if not info.is_dir() and (info.external_attr >> 28) in (0, 8):  # no type given, or a regular file
                    with wheel.open(info) as stream:
                        yield info.filename, stream
        return
    with gzip.open(archive) as packed, tarfile.open(fileobj=_BoundedStream(packed, max_bytes), mode="r:") as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isreg() else None
            if stream is not None:
                yield member.name, stream


class _BoundedStream:
    """Limits reads of a tar file: tarfile reads a header in one piece, of the size that it claims."""

    def __init__(self, stream: IO[bytes], max_bytes: int) -> None:
        # Headers and padding are not part of the limit for files, so they get the same again.
        self.stream, self.end = stream, 2 * max_bytes

    def read(self, size: int) -> bytes:
        if size > _MAX_HEADER_BYTES or self.stream.tell() > self.end:
            raise ArchiveRefusedError("it unpacks to more than is allowed")
        return self.stream.read(size)

    def seek(self, position: int) -> int:
        if position > self.end:
            raise ArchiveRefusedError("it unpacks to more than is allowed")
        return self.stream.seek(position)

    def tell(self) -> int:
        return self.stream.tell()


def _target_path(target: Path, name: str) -> Path:
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name or "\0" in name or not pure.parts:
        raise ArchiveRefusedError(f"it has a file outside its folder: {name!r}")
    return target / pure


def _write(path: Path, stream: IO[bytes], max_bytes: int) -> int:
    """Copy the stream and count real bytes, not those that the archive claims."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as out:
        while chunk := stream.read(_CHUNK):
            written += len(chunk)
            if written > max_bytes:
                raise ArchiveRefusedError("it unpacks to more than is allowed")
            out.write(chunk)
    return written


def scan_summary(root: Path, work: Path) -> dict[str, Any]:
    """The summary for the snapshot: files read, findings by code and severity, readiness."""
    command = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "scan", str(root), "--no-cache"]
    ended = run(
        [*command, "--quiet", "--format", "json", "--work", str(work), "--output", str(work / "scan.json")],
        seconds=SCAN_SECONDS,
    )
    # A Python that cannot import rocm3d exits with 1 too.
    if ended.code not in (ExitCode.DONE, ExitCode.FINDINGS) or not (work / "scan.json").is_file():
        last_line = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ArchiveRefusedError(
            f"the scan ended with {'a time-out' if ended.timed_out else ended.code}: {' '.join(last_line)}"
        )
    document = json.loads((work / "scan.json").read_text(encoding="utf-8"))
    inventory = document["inventory"]
    codes = Counter(f"{finding['code']} {finding['severity']}" for finding in document["findings"])
    return {
        "codes": dict(codes),
        "files": {kind: inventory["counts"][kind] for kind in ("files", "python", "cuda", "manifests")},
        "readiness": inventory["readiness"],
        "skipped": len(inventory["skipped"]),
    }


def run_all(archives: list[Archive], folder: Path) -> ScanOutcome:
    """Scan every archive; a failed one does not stop the others."""
    outcome = ScanOutcome({}, {}, {})
    with index_client(pip_index_url()) as finder:
        for archive in archives:
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    file = fetch(archive, finder, folder)
                    root = unpack(file, Path(scratch) / "tree")
                    work = Path(scratch) / "work"
                    work.mkdir()
                    outcome.scanned[archive.file] = scan_summary(root, work)
                except ArchiveUnavailableError as reason:
                    outcome.unavailable[archive.file] = str(reason)
                except ArchiveRefusedError as reason:
                    outcome.refused[archive.file] = str(reason)
    return outcome


def snapshot_text(summaries: dict[str, dict[str, Any]]) -> str:
    """The stored form of a snapshot: one value per line, so that a diff shows what changed."""
    return json.dumps(summaries, indent=1, sort_keys=True) + "\n"


def snapshot_diff(before: dict[str, dict[str, Any]], outcome: ScanOutcome) -> str:
    """Diff of snapshot and run, without archives that were not scanned."""
    not_run = outcome.unavailable.keys() | outcome.refused.keys()
    expected = {file: summary for file, summary in before.items() if file not in not_run}
    lines = (snapshot_text(expected).splitlines(), snapshot_text(outcome.scanned).splitlines())
    return "\n".join(difflib.unified_diff(*lines, "snapshot", "this scan", lineterm="", n=6))


def compare_with_snapshot(options: argparse.Namespace) -> ExitCode:
    """Scan all archives and compare or update the snapshot."""
    archives = load(options.list)
    outcome = run_all(archives, options.folder)
    for what, reasons in (("not available", outcome.unavailable), ("refused", outcome.refused)):
        for file, reason in reasons.items():
            print(f"not run: {file}: {what}: {reason}", file=sys.stderr)
    if options.update and not (outcome.unavailable or outcome.refused):
        options.snapshot.write_text(snapshot_text(outcome.scanned), encoding="utf-8")
        print(f"{options.snapshot.name}: {len(outcome.scanned)} archives")
        return ExitCode.DONE
    known = json.loads(options.snapshot.read_text(encoding="utf-8")) if options.snapshot.is_file() else {}
    changed = snapshot_diff(known, outcome)
    if changed:
        print(changed)
    print(f"{len(outcome.scanned)} of {len(archives)} archives scanned, {'changed' if changed else 'as before'}")
    if changed or outcome.refused:
        return ExitCode.FINDINGS
    return ExitCode.MACHINE if outcome.unavailable else ExitCode.DONE


def main(arguments: list[str] | None = None) -> int:
    """Run the command; expected errors are one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the snapshot; only if every archive was scanned")
    parser.add_argument("--list", type=Path, default=HERE / "ecosystem.toml")
    parser.add_argument("--snapshot", type=Path, default=HERE / "ecosystem-snapshot.json")
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build" / "ecosystem", help="for downloads")
    try:
        return int(compare_with_snapshot(parser.parse_args(arguments)))
    except Rocm3dError as failure:
        print(failure.message, file=sys.stderr)
        return int(failure.exit_code)


if __name__ == "__main__":
    sys.exit(main())
