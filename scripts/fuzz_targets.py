"""Targets of `scripts/fuzz.py`: functions of bytes that raise only if there is a bug.

Import this module only while the fuzzer instruments imports.
"""

from __future__ import annotations

import base64
import gc
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from fuzz_documents import document_seeds, document_targets

from rocm3d.artifact import inspection as artifact
from rocm3d.artifact.gltf import pack_glb
from rocm3d.host.diagnosis import diagnose
from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.kinds import FOLDERS, SINGLES, TABLES
from rocm3d.knowledge.load import load
from rocm3d.manifest.manifest import manifest_readers
from rocm3d.model.artifact import Artifact
from rocm3d.model.errors import UserError
from rocm3d.model.snapshot import Snapshot
from rocm3d.scan.detector import active_rules, load_detectors
from rocm3d.scan.file_scan import FileResult, is_scanned, scan_file, scan_paths
from rocm3d.scan.selection import Selection
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.workspace.configuration import read_configuration
from rocm3d.workspace.tree import Tree

ROOT = Path(__file__).resolve().parents[1]
MAX_INPUT_BYTES = 16384
# One name for each kind of file; `targets` fails if a reader matches none of them.
FILE_NAMES = (
    "a.py", "a.cu", "a.h", "setup.py", "setup.cfg", "pyproject.toml", "requirements.txt", "environment.yml",
    "Dockerfile", "compose.yml", "CMakeLists.txt", "install.sh", "Makefile", "README.md", "a.ipynb",
    ".github/workflows/a.yml", ".gitmodules", "uv.lock", "Pipfile", "cog.yaml", "pip.conf", ".python-version",
)  # fmt: skip
# A triangle as a glTF: three points, and images that do not exist.
_GLTF = (
    b'{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":'
    b'{"POSITION":0},"material":0}]}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],'
    b'"bufferViews":[{"buffer":0,"byteLength":36}],"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}],'
    b'"textures":[{"source":0}],"images":[{"uri":"a.png"}],"buffers":[{"byteLength":36%b}]}'
)
_POINTS = b"\0\0\0\0" * 3 + b"\0\0\x80\x3f\0\0\0\0\0\0\0\0" + b"\0\0\0\0\0\0\x80\x3f\0\0\0\0"
_NPY = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }".ljust(117) + b"\n"
# Artifact readers by suffix. Each uses another library.
ARTIFACTS = {
    ".ply": b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    b"element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    ".obj": b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n",
    ".glb": pack_glb(_GLTF % b"", _POINTS),
    ".gltf": _GLTF % (b',"uri":"data:;base64,' + base64.b64encode(_POINTS) + b'"'),
    ".npy": b"\x93NUMPY\x01\x00\x76\x00" + _NPY + _POINTS,
    ".ppm": b"P6\n2 2\n255\n" + bytes(range(12)),
}
# Seeds for kinds that the examples do not have.
SEEDS = {
    **{f"artifact{ending}": data for ending, data in ARTIFACTS.items()},
    "setup.cfg": b"[options]\ninstall_requires =\n  torch[a]==1.0; a == 'x'\n[options.extras_require]\na = b\n",
    "Dockerfile": b"ARG A=nvidia/cuda:12\nFROM $A AS b\nENV C d\nRUN pip install -i https://h torch && \\\n  cd e\n"
    b'COPY --from=b . .\nRUN ["pip", "install", "f"]\nRUN <<G\npip install h\nG\n',
    "compose.yml": b"services:\n  a:\n    image: nvidia/cuda:${TAG:-12}\n    runtime: nvidia\n",
    "install.sh": b"A=1.0\nfor p in torch b; do pip install $p==${A:-2}; done\nbash -c 'cd x && pip install .'\n"
    b"git clone https://h/a.git\ncat <<E\npip install c\nE\n",
    "Makefile": b"A ?= pip\ninstall: a\n\t@$(A) install torch \\\n\t  b\nc:\n\t-pip install -i https://h -r d.txt\n",
    "a.ipynb": b'{"cells": [{"cell_type": "code", "source": ["!pip install torch\\n", "%%bash\\u0020"]}]}',
    "github-workflows-a.yml": b"jobs:\n  a:\n   steps:\n   - run: |\n      pip install torch\n   - run: >\n      b\n",
    "gitmodules": b'[submodule "a"]\n\tpath = third_party/a\n\turl = https://h/o/diff-gaussian-rasterization.git\n',
    "python-version": b"3.10.4\ncpython-3.12\npypy3.9\n",
    "uv.lock": b'[[package]]\nname = "torch"\nversion = "2.1"\nsource = { registry = "https://h/whl/cu121" }\n',
    "Pipfile": b'[[source]]\nurl = "https://h/whl/cu121"\n[packages]\ntorch = "*"\na = {version = "1", extras = []}\n',
    "pip.conf": b"[global]\nindex-url = https://h/simple\nextra-index-url =\n    https://u:p@h/\n    ${A}\n"
    b"find-links: ./a\n",
    "cog.yaml": b"build:\n  gpu: true\n  python_packages: [torch==2.1]\n  python_requirements: a.txt\n  run:\n"
    b"    - pip install b\n    - command: |\n        cd c && pip install .\n",
    "pyproject.toml": b'[project]\ndependencies = ["torch"]\n[tool.uv]\nindex-url = "https://h"\n[tool.poetry.dependencies]\n'
    b'a = {version = "1", extras = ["b"]}\n[[tool.uv.index]]\nurl = "https://h"\n',
    "configuration": b'gpu = "mi300x"\nonly = ["CU"]\nskip = ["DEP"]\n[tool.rocm3d]\ngpu = "gfx942"\n',
    "ignore": b"[nvml_import, CU101]",
    "snapshot": b'{"schema_version": "1.0", "taken": "now", "gpus": [{"pci": "0000:03:00.0", "gfx": "gfx1100"}], '
    b'"variables": {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, "processor": {"l3": [{"kib": 1, "cpus": "0-7"}]}}',
    "names": b"a/b.so.1\nc.whl\nd_hip.cpp\ne.cu\ne.cpp\nlib/f.cubin\n",
}
# One file for each kind of record.
RECORDS = (
    *(f"{kind}/a.toml" for kind in FOLDERS), *(f"{kind}.toml" for kind in (*TABLES, *SINGLES)),
    "rules/a/a/rule.toml",
)  # fmt: skip
Target = Callable[[bytes], None]


def targets() -> dict[str, Target]:
    uncovered = [
        item.kind for item in manifest_readers() if not item.by_name and not any(map(item.matches, FILE_NAMES))
    ]
    if uncovered:
        raise LookupError(f"fuzz_targets.py has no file name for the readers {', '.join(uncovered)}")
    knowledge = load()
    by_name: dict[str, Target] = {target_name(name): partial(_file, name, knowledge) for name in FILE_NAMES}
    by_name |= {f"isolation{suffix}": partial(_isolation, f"a{suffix}") for suffix in (".py", ".cu")}
    by_name |= {"ignore": partial(_ignore, knowledge), "names": partial(_names, knowledge)}
    by_name |= {f"artifact{ending}": partial(_artifact, ending) for ending in ARTIFACTS}
    by_name |= {"snapshot": partial(_snapshot, knowledge)}
    own = {"configuration": _configuration, "knowledge": _knowledge}
    return {**by_name, **own, **document_targets(knowledge)}


def target_name(name: str) -> str:
    """The target of a file name; also used as a folder name."""
    return name.strip(".").replace("/", "-")


def seeds(target: str) -> list[bytes]:
    """Seeds: our own documents, or files of the examples and records of its kind, and an empty line."""
    if target in (documents := document_seeds()):
        return documents[target]
    name = next((name for name in FILE_NAMES if target_name(name) == target), target)
    suffix = Path(name).suffix
    places = (path for folder in ("examples", "knowledge/rules") for path in sorted((ROOT / folder).rglob("*")))
    chosen = [path for path in places if path.name == name or (suffix and path.suffix == suffix)]
    first = dict.fromkeys(chosen, b"")
    if target == "knowledge":
        for number, record in enumerate(RECORDS):
            like = sorted((ROOT / "knowledge").glob(record.replace("/a", "/*")))
            first |= {path: bytes([number]) for path in like[:6]}
    return [
        SEEDS.get(target, b"\n"),
        *(head + path.read_bytes() for path, head in first.items() if path.stat().st_size <= MAX_INPUT_BYTES),
    ]


def dictionary_words() -> set[bytes]:
    """The terms of the detectors, as the fuzzer's dictionary."""
    listed = (
        detector.prefilter
        for rule in active_rules(load())
        for detector in load_detectors(rule)
        if isinstance(detector.prefilter, tuple)
    )
    return {word for needs in listed for word in needs} | {b"rocm3d: ignore[", b"\\ud800"}


def _file(name: str, knowledge: Knowledge, data: bytes) -> None:
    """Run the reader or parser of one file, and every detector."""
    result = scan_file(name, data, knowledge, Selection())
    if FileResult.model_validate_json(result.model_dump_json()) != result:
        raise AssertionError("the result is not the same after JSON")


def _snapshot(knowledge: Knowledge, data: bytes) -> None:
    """An untrusted snapshot: refused in one line, or diagnosed."""
    with suppress(UserError):
        diagnose(Snapshot.from_json(data.decode("utf-8", errors="replace"), "it"), knowledge)


def _ignore(knowledge: Knowledge, data: bytes) -> None:
    """The ignore comment after a line with a finding."""
    _file("a.py", knowledge, b"import pynvml  # rocm3d: ignore" + data + b"\n")


def _names(knowledge: Knowledge, data: bytes) -> None:
    """File names as the tree walk yields them: UTF-8, no NUL."""
    paths = [path for path in data.decode("utf-8", "ignore").replace("\0", "").split("\n") if path.strip("/")]
    scan_paths(paths, knowledge, Selection()).model_dump_json()
    for path in paths:
        is_scanned(path)


def _isolation(name: str, data: bytes) -> None:
    """Two versions of a file. An unchanged file is proven equal, or gets no proof."""
    before, _, after = data.partition(b"\xff")
    prove_isolation(name, before, after).model_dump_json()
    same = prove_isolation(name, before, before)
    if not same.holds and "differs from the original" in same.detail:
        raise AssertionError("an unchanged file is not proven equal to itself")


def _artifact(ending: str, data: bytes) -> None:
    """An artifact of a workload. Every problem with it is a verdict; `ok` means that it was read."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"a{ending}"
        file.write_bytes(data)
        report = artifact.inspect_file(file)
    gc.collect()  # the fuzzer counts the arrays of readers that failed, which stay in cycles, as memory of this input
    if Artifact.model_validate_json(report.model_dump_json()) != report:
        raise AssertionError("the result is not the same after JSON")


def _configuration(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("rocm3d.toml", "pyproject.toml"):
            try:
                read_configuration(Tree.open(Path(folder), overlay={name: data})).model_dump_json()
            except UserError as error:
                error.message.encode()


def _knowledge(data: bytes) -> None:
    """A record in a user's overlay; the first byte selects its kind."""
    record = RECORDS[data[0] % len(RECORDS)] if data else RECORDS[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / record
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data[1:])
        try:
            load(Path(folder))
        except UserError as error:
            error.message.encode()
