"""Writes the files for one new package, target, stack, card, condition, advice, variable, port, rule, fix of a rule,
matcher, rewrite, probe, addition, command, tool or kernel. Examples:

    python scripts/new.py package fancy-raster
    python scripts/new.py rule cuda some_intrinsic CU499 --found some_kernel.cu
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import new_kernel

from rocm3d import __version__
from rocm3d.knowledge.load import load
from rocm3d.scan.cases import RuleCase
from rocm3d.scan.selection import Selection

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
    return probe.verdict("not_run", "is not written yet")


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

MATCHER = '''"""TODO: what it matches, its parameters, and the facts that it gives."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.scan.detector import DetectorContext, Match, Matcher, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """General: names of libraries and rules belong in rule.toml."""
    for node in unit.nodes("identifier"):
        if unit.slice(node) in context.code.terms and unit.is_shared(node.start_byte):
            yield match_at(unit, node, why=context.code.terms[unit.slice(node)])


matcher = Matcher(unit_types=CudaUnit, find=find, prefilter=contains_term)
'''

TOOL = '''"""{name}: TODO: one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.mcp.arguments import RepositoryPath
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext

TITLE = "TODO: a title of a few words"
POSITION = 200
PATHS = ("path",)


class Arguments(Record):
    """TODO: the command that does the same."""

    path: RepositoryPath


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """TODO: what it does, in one sentence. Agents read this."""
    repository = context.repository(arguments.path)
    return tool_response({{"folder": repository.root.name}}, "TODO: our own words, no text of the repository.")
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

ADVICE = """id = "{name}"
claim = "TODO: what people are told, in one sentence"
told_by = ["TODO: who says so: repository, page and date"]
verdict = "bounded"
why = "TODO: what speaks for and against it"
instead = "TODO: what to do"
{fact}"""

VARIABLE = """id = "{name}"
meaning = "TODO: what the variable does"
advice = "TODO: when to set it, and to what"
read_by = ["torch"]
example = "1"
{fact}"""

PORT = """id = "{name}"
title = "TODO: name of the model or program"
repository = "owner/name"
commit = "00000000"
tier = 1
families = ["cleanup"]
marks = ["TODO: two or three paths that only this repository has"]
licence = {{ name = "TODO: name of the licence" }}
{fact}
[workload]
command = ["python", "some_script.py"]
does = "TODO: what it computes"
minutes = 15
artifact = "TODO: what it writes"
check = "TODO: how to see that it is right"
"""

FIX = """
[fix]
id = "{name}"
title = "TODO: what it does, in one line"
rewrite = "name_of_the_rewrite"
safety = "review"
check = "TODO: what a reader of the edit checks, in one sentence"
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
example = "TODO: one line that it finds"
example_after = "TODO: that line after the change, for people who make it by hand"
since = "{version}"
{fact}{matcher}
[terms]
"some_name" = "TODO: why it does not work on ROCm"
"""

MATCHER_OF_RULE = """
[matcher]
kind = "{kind}"
parameters.query = '''
{query}
'''
"""

PYTHON_RULE = {
    "language": "python",
    "unit": "PythonUnit",
    "node": "identifier",
    "file": "a.py",
    "kind": "python_syntax",
    "query": "(call function: (_) @name (#term? @name)) @match",
}
GROUPS = {
    "cuda": {
        "language": "cuda",
        "unit": "CudaUnit",
        "node": "identifier",
        "file": "a.cu",
        "kind": "cuda_syntax",
        "query": "(call_expression function: (_) @name (#term? @name)) @match",
    },
    "build": {**PYTHON_RULE, "file": "setup.py"},
    "python": PYTHON_RULE,
}


def files(kind: str, words: list[str], *, example: Path | None, in_python: bool) -> dict[Path, str]:
    """Texts of the new files by path; `words` are the arguments of the kind."""
    date = load().date.isoformat()
    common = {"fact": FACT.format(date=date), "date": date, "version": __version__}
    if kind == "rule":
        return rule_files(words, common, example=example, in_python=in_python)
    if kind == "fix":
        rule, name = words
        (path,) = KNOWLEDGE.glob(f"rules/*/{rule}/rule.toml")
        texts = {part: f"{part} the edit\n" for part in ("before", "after", "untouched")}
        record = path.read_text(encoding="utf-8") + FIX.format(**common, name=name)
        return {path: record, **{path.parent / "cases" / f"{part}.cu": text for part, text in texts.items()}}
    (name,) = words
    if kind == "kernel":
        return new_kernel.files(name, ROOT / "kernels")
    if kind in RECORDS:
        folder, template = RECORDS[kind]
        return {KNOWLEDGE / folder / f"{name}.toml": template.format(**common, name=name)}
    package, template, tested = MODULES[kind]
    module = f"rocm3d.{package.replace('/', '.')}.{name}"
    return {
        SOURCE / package / f"{name}.py": template.format(name=name),
        TESTS / package / f"test_{name}.py": MIRRORED_TEST.format(module=module, name=tested),
    }


def rule_files(words: list[str], common: dict[str, str], *, example: Path | None, in_python: bool) -> dict[Path, str]:
    """A rule as data, with its cases; `in_python` if no matcher fits."""
    group, name, code = words
    values = {**common, **GROUPS[group], "group": group, "name": name, "code": code}
    values["matcher"] = "" if in_python else MATCHER_OF_RULE.format(**values)
    folder = KNOWLEDGE / "rules" / group / name
    source = "some_name();\n" if example is None else example.read_text(encoding="utf-8")
    path = values["file"] if example is None else example.name
    written = {
        folder / "rule.toml": RULE.format(**values),
        folder / "cases" / "found.txt": f"==== {path} 1:1\n{source}",
        folder / "cases" / "silent.txt": f"==== {path}\nother_name();\n",
    }
    if in_python:
        written[SOURCE / "scan" / "detectors" / group / f"{name}.py"] = DETECTOR.format(**values)
    return written


def findings_of_other_rules(example: Path) -> list[str]:
    """What the existing rules find in a file."""
    knowledge = load()
    document = RuleCase("", {example.name: example.read_bytes()}).scan(knowledge, Selection())
    return [f"{item.line}:{item.column} {item.code} {item.rule}: {item.message}" for item in document.findings]


RECORDS = {
    "package": ("packages", PACKAGE),
    "target": ("targets", TARGET),
    "stack": ("stacks", STACK),
    "card": ("cards", CARD),
    "condition": ("host", CONDITION),
    "advice": ("advice", ADVICE),
    "variable": ("variables", VARIABLE),
    "port": ("ports", PORT),
}
MODULES = {
    "matcher": ("scan/matchers", MATCHER, "matcher"),
    "rewrite": ("apply/rewrites", REWRITE, "edit"),
    "probe": ("verify/probes", PROBE, "probe"),
    "addition": ("apply/additions", ADDITION, "render"),
    "command": ("cli", COMMAND, "command"),
    "tool": ("mcp/tools", TOOL, "work"),
}
ARGUMENTS = {"rule": "GROUP NAME CODE", "fix": "RULE NAME"}


def main() -> int:
    """Write the files; an existing file is never overwritten, except that a fix is appended to its rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=(*RECORDS, "rule", "fix", *MODULES, "kernel"))
    parser.add_argument("words", nargs="+", help="NAME; for a rule GROUP NAME CODE, for a fix RULE NAME")
    parser.add_argument("--found", type=Path, help="for a rule: a file that it should find, as its first case")
    parser.add_argument("--anyway", action="store_true", help="write the rule although others find that file")
    parser.add_argument("--python", action="store_true", help="for a rule: a detector in Python instead of a matcher")
    options = parser.parse_args()
    arguments = ARGUMENTS.get(options.kind, "NAME").split()
    if len(options.words) != len(arguments):
        parser.error(f"a {options.kind} needs {' '.join(arguments)}")
    if options.kind == "rule" and options.words[0] not in GROUPS:
        parser.error(f"GROUP is one of {', '.join(GROUPS)}")
    if options.kind == "kernel" and not new_kernel.is_name(options.words[0]):
        parser.error("NAME has only small letters, digits and underscores, such as blur_2d")
    if options.kind == "fix" and not [*KNOWLEDGE.glob(f"rules/*/{options.words[0]}/rule.toml")]:
        parser.error(f"knowledge/rules has no rule {options.words[0]}")
    if options.found is not None and not options.found.is_file():
        parser.error(f"--found {options.found} is not a file")
    known = findings_of_other_rules(options.found) if options.found is not None and not options.anyway else []
    if known:
        parser.error("\n  ".join([f"rules find {options.found.name} already; pass --anyway for one more:", *known]))
    new_files = files(options.kind, options.words, example=options.found, in_python=options.python)
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
