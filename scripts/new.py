"""Writes the files for one new package, target, stack, card, condition, rule, fix of a rule, rewrite, probe, addition,
command or kernel. Example: python scripts/new.py rule cuda some_intrinsic CU499
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import new_kernel

from rocm3d import __version__
from rocm3d.knowledge.load import load

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS, KNOWLEDGE = ROOT / "src" / "rocm3d", ROOT / "tests", ROOT / "knowledge"

FACT = """checked = {date}
confidence = "inferred"
sources = [{{ where = "TODO: repository and commit, or a document's title and date", says = "TODO: what it says" }}]
"""

DETECTOR = '''"""TODO: the pattern, and why it breaks on AMD GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.{language} import {unit}


def find(unit: {unit}, context: DetectorContext) -> Iterator[Match]:
    """TODO: which matches are reported."""
    for node in unit.nodes("{node}"):
        if unit.slice(node) in context.code.terms:
            yield match_at(unit, node)


detector = Detector(__name__, code="{code}", unit_types={unit}, find=find)
'''

DETECTOR_TEST = """from __future__ import annotations

from rocm3d.scan.detector import DetectorContext
from rocm3d.scan.detectors.{group}.{name} import detector, find
from rocm3d.syntax.{language} import {unit}


def positions(knowledge, text: str):
    context = DetectorContext(knowledge.codes[detector.code], knowledge)
    return [(item.line, item.column) for item in find({unit}("a", text.encode()), context)]


def test_not_found_in_a_comment(knowledge):
    assert [] == positions(knowledge, "{comment} put the pattern here\\n")


def test_positions(knowledge):
    assert [(1, 1)] == positions(knowledge, "put the pattern here\\n")
"""

REWRITE = '''"""TODO: what it rewrites, and the fact that justifies it."""

from __future__ import annotations

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Return the bytes unchanged if nothing applies; refuse if unsure; be idempotent."""
    raise RewriteRefusedError("is not written yet")
'''

PROBE = '''"""TODO: what it checks, and what a pass means."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Verdict:
    """A passed verdict lists what was checked."""
    return Verdict(level="static", probe=probe.name, outcome="not_run", reason="is not written yet")


probe = Probe(__name__, "static", attempt)
'''

ADDITION = '''"""TODO: which files it adds, and when."""

from __future__ import annotations

from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Bytes by path inside rocm-port/."""
    return {{}}
'''

COMMAND = '''"""rocm3d {name}: TODO: one line."""

from __future__ import annotations

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode

POSITION = 200
EXAMPLE = "Example: rocm3d {name} PATH"


def command(session: CliSession, path: options.Target) -> ExitCode:
    """TODO: what it does, in one sentence."""
    with session.repository(path) as repository:
        session.write_output(f"{{repository.root.name}}\\n", None)
    return ExitCode.DONE
'''

MIRRORED_TEST = """from __future__ import annotations

from {module} import {name}


def test_{name}_refuses_before_it_acts():
    assert {name} is None, "write the refusals first"
"""

PACKAGE = """id = "{name}"
pip = ["{name}"]
imports = ["{name}"]
family = "cleanup"
purpose = "TODO: what repositories use it for"
{fact}
[[routes]]
id = "blocked"
decision = "blocked"
summary = "TODO: how it is installed, or why it cannot be"
rank = 1
{fact}"""

TARGET = """gfx = "{name}"
title = "TODO: name of the GPU family"
architecture = "rdna"
default_product = "product-id"
wave_size = 32
fp8 = "none"
matrix = "none"
lds_kib = 64
rocm = ">=7.0"
{fact}
[[products]]
id = "product-id"
title = "TODO: product name"
names = []
vram_gb = 16
"""

STACK = """id = "{name}"
title = "TODO: ROCm X with torch Y"
platforms = ["linux"]
form = "container"
rocm = "7.0"
torch = "2.8.0"
python = "3.12"
image = ""
gfx = ["gfx942"]
released = {date}
{fact}"""

CARD = """id = "{name}"
title = "TODO: name of the card"
vendor = "nvidia"
names = []
memory_gb = 24
memory_kind = "GDDR6"
fp8 = "none"
matrix = "tensor"
{fact}"""

CONDITION = """id = "{name}"
title = "TODO: what is wrong with the machine, in one line"
severity = "warning"
test = "set_and_on"
why = "TODO: what happens to a port"
remedy = ["TODO: the exact command"]
check = "TODO: how to see that it helped"
{fact}
[parameters]
names = ["SOME_VARIABLE"]
"""

FIX = """
[fix]
id = "{name}"
title = "TODO: what it does, in one line"
rewrite = "name_of_the_rewrite"
safety = "review"
why = "TODO: why the edit is right, in one paragraph"
changes_for_user = "TODO: what changes on ROCm; nothing changes on CUDA"
since = "{version}"
status = "planned"
{fact}"""

RULE = """code = "{code}"
rule = "{name}"
severity = "error"
message = "TODO: what is there, with the name of the API"
hint = "TODO: the next action"
help = "TODO: why it breaks, and what to do on CDNA and on RDNA"
since = "{version}"
{fact}"""

LANGUAGES = {
    "cuda": {"language": "cuda", "unit": "CudaUnit", "node": "identifier", "comment": "//"},
    "build": {"language": "python", "unit": "PythonUnit", "node": "identifier", "comment": "#"},
    "python": {"language": "python", "unit": "PythonUnit", "node": "identifier", "comment": "#"},
}


def files(kind: str, words: list[str]) -> dict[Path, str]:
    """Texts of the new files by path; `words` are the arguments of the kind."""
    date = load().date.isoformat()
    common = {"fact": FACT.format(date=date), "date": date, "version": __version__}
    if kind == "rule":
        group, name, code = words
        values = {**common, **LANGUAGES[group], "group": group, "name": name, "code": code}
        return {
            SOURCE / "scan" / "detectors" / group / f"{name}.py": DETECTOR.format(**values),
            TESTS / "scan" / "detectors" / group / f"test_{name}.py": DETECTOR_TEST.format(**values),
            KNOWLEDGE / "rules" / group / name / "rule.toml": RULE.format(**values),
        }
    if kind == "fix":
        rule, name = words
        (path,) = KNOWLEDGE.glob(f"rules/*/{rule}/rule.toml")
        texts = {part: f"{part} the edit\n" for part in ("before", "after", "untouched")}
        record = path.read_text(encoding="utf-8") + FIX.format(**common, name=name)
        return {path: record, **{path.parent / "cases" / f"{part}.cu": text for part, text in texts.items()}}
    (name,) = words
    if kind == "kernel":
        return new_kernel.files(name, ROOT / "kernels")
    if kind == "condition":
        return {KNOWLEDGE / "host" / f"{name}.toml": CONDITION.format(**common, name=name)}
    if kind in ("package", "target", "stack", "card"):
        template = {"package": PACKAGE, "target": TARGET, "stack": STACK, "card": CARD}[kind]
        return {KNOWLEDGE / f"{kind}s" / f"{name}.toml": template.format(**common, name=name)}
    package, template, tested = {
        "rewrite": ("apply/rewrites", REWRITE, "edit"),
        "probe": ("verify/probes", PROBE, "probe"),
        "addition": ("apply/additions", ADDITION, "render"),
        "command": ("cli", COMMAND, "command"),
    }[kind]
    module = f"rocm3d.{package.replace('/', '.')}.{name}"
    return {
        SOURCE / package / f"{name}.py": template.format(name=name),
        TESTS / package / f"test_{name}.py": MIRRORED_TEST.format(module=module, name=tested),
    }


ARGUMENTS = {"rule": "GROUP NAME CODE", "fix": "RULE NAME"}


def main() -> int:
    """Write the files; an existing file is never overwritten, except that a fix is appended to its rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    facts = ("package", "target", "stack", "card", "condition", "rule", "fix")
    kinds = (*facts, "rewrite", "probe", "addition", "command", "kernel")
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("words", nargs="+", help="NAME; for a rule GROUP NAME CODE, for a fix RULE NAME")
    options = parser.parse_args()
    arguments = ARGUMENTS.get(options.kind, "NAME").split()
    if len(options.words) != len(arguments):
        parser.error(f"a {options.kind} needs {' '.join(arguments)}")
    if options.kind == "rule" and options.words[0] not in LANGUAGES:
        parser.error(f"GROUP is one of {', '.join(LANGUAGES)}")
    if options.kind == "kernel" and not new_kernel.is_name(options.words[0]):
        parser.error("NAME has only small letters, digits and underscores, such as blur_2d")
    if options.kind == "fix" and not [*KNOWLEDGE.glob(f"rules/*/{options.words[0]}/rule.toml")]:
        parser.error(f"knowledge/rules has no rule {options.words[0]}")
    new_files = files(options.kind, options.words)
    existing = [
        path for path in new_files if path.exists() and not (options.kind == "fix" and path.name == "rule.toml")
    ]
    if existing:
        parser.error(f"{existing[0].relative_to(ROOT)} already exists")
    for path, text in new_files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
