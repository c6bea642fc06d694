"""Evaluates the agent skill: structure, links, every command it names by running it, and routing of the eval prompts.

python scripts/skill_evals.py           everything, with each command in its own process (`make skill-evals`)
python scripts/skill_evals.py --quick   without starting processes
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocm3d.cli.help import help_texts
from rocm3d.cli.main import build
from rocm3d.knowledge.load import load, tomllib
from rocm3d.model.method import SkillEval
from rocm3d.skill.check import commands_of_call, find_calls, skill_problems
from rocm3d.skill.routing import best_skill, rank_skills
from rocm3d.skill.stage import skill_files

ROOT = Path(__file__).resolve().parents[1]
OTHERS = ROOT / "tests" / "skill" / "other_skills.toml"
EXAMPLE = ROOT / "examples" / "point-backbone"
MIN_OTHER_SKILLS = 10  # other skills to compare with
# Values for the placeholders in commands of the skill; every other word is used unchanged.
PLACEHOLDERS = {"PATH": "repository", "COPY": "copy", "GPU": "mi300x", "PACKAGE": "spconv", "NAME": "CU101"}


def routing_problems(
    cases: tuple[SkillEval, ...], name: str, description: str, others: Mapping[str, str]
) -> Iterator[str]:
    """Prompts that are routed to the wrong skill."""
    if len(others) < MIN_OTHER_SKILLS:
        yield f"{len(others)} other skills are too few to compare with; at least {MIN_OTHER_SKILLS} are needed"
    for case in cases:
        skills = {name: description, **others}
        if (best_skill(case.prompt, skills) == name) != case.should_trigger:
            best, second = rank_skills(case.prompt, skills)[:2]
            meant = "should go to ours" if case.should_trigger else "should not go to ours"
            yield f"routing: {case.id} {meant}: {best.skill} {best.score:.2f}, {second.skill} {second.score:.2f}"


def help_problems(files: Mapping[str, str], commands: Mapping[str, str]) -> Iterator[str]:
    """Commands of the skill whose `--help` does not run."""
    pages = [text for name, text in files.items() if name.endswith(".md")]
    names = sorted({name for text in pages for call in find_calls(text) for name in commands_of_call(call, commands)})
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, ended in zip(names, pool.map(lambda name: _run([*name.split()[1:], "--help"]), names), strict=True):
            if ended.returncode != 0 or not ended.stdout.startswith("Usage: "):
                yield f"{name} --help exits with {ended.returncode}: {ended.stderr.strip()[-200:]}"
    print(f"{len(names)} commands checked with --help")


def walkthrough_problems(page: str) -> Iterator[str]:
    """Problems of the page's commands, run in order on a copy of an example, as an agent with only the page would do.

    First the overview, then the phases without those that the example may skip: it has nothing native and compiles no
    model. Only commands that change nothing, port a copy, or read one: no run, no install, nothing about this machine.
    """
    overview, _, rest = page.partition("\n## Phases\n")
    phases = re.split(r"^### ", rest, flags=re.MULTILINE)
    yield from _run_page_commands(overview)
    yield from _run_page_commands("\n".join(phase for phase in phases if "\nSkip if " not in phase))


def _run_page_commands(page: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(EXAMPLE, work / "repository", ignore=shutil.ignore_patterns(".rocm3d"))
        before = {path: path.read_bytes() for path in (work / "repository").rglob("*") if path.is_file()}
        done = 0
        for call in _page_commands(page):
            words = [PLACEHOLDERS.get(word, word) for word in shlex.split(call)[1:]]
            if "--into" in words:
                shutil.rmtree(work / "copy", ignore_errors=True)
            ended = _run(words, work)
            done += 1
            if ended.returncode not in (0, 1) or (ended.returncode == 1 and words[0] != "scan"):
                yield f"{call} exits with {ended.returncode}: {ended.stderr.strip()[-300:]}"
        if any(not path.is_file() or path.read_bytes() != data for path, data in before.items()):
            yield "the repository itself was changed, although the page promises a copy"
        print(f"{done} commands of the page ran in order on {EXAMPLE.name}")


def _page_commands(page: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    kinds = ("scan", "plan", "apply", "port", "undo", "explain", "verify", "report", "upstream", "ledger")
    commands = [line for line in lines if line.startswith(tuple(f"rocm3d {kind} " for kind in kinds))]
    # Compiling takes minutes, and this machine may lack the user's interpreter.
    commands = [line.replace(" --python PYTHON", "") for line in commands if "--level compile" not in line]
    # Undo comes last, so that there is something to report on.
    return sorted(commands, key=lambda line: line.startswith("rocm3d undo"))


def _run(words: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", *words]
    with tempfile.TemporaryDirectory() as data_folder:
        own = {**os.environ, "ROCM3D_DATA": data_folder, "COLUMNS": "100"}
        return subprocess.run(program, capture_output=True, text=True, cwd=folder, env=own, check=False)


def main() -> int:
    """Print the problems; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="start no process")
    quick = parser.parse_args().quick
    knowledge, commands = load(), help_texts(build())
    files, method = skill_files(knowledge, commands), knowledge.method
    assert method is not None, "without one there is no skill"
    others = tomllib.loads(OTHERS.read_text(encoding="utf-8"))["skills"]
    all_problems = [
        *skill_problems(files, commands),
        *routing_problems(method.evals, method.name, method.description, others),
    ]
    number = len(json.loads(files["evals/evals.json"])["evals"])
    print(
        f"{number} prompts, {len(others)} other skills, {len(files)} files, {len(files['SKILL.md'].splitlines())} lines"
    )
    if not quick:
        all_problems += [*help_problems(files, commands), *walkthrough_problems(files["SKILL.md"])]
    for problem in all_problems:
        print(problem)
    print(
        f"{len(all_problems)} problem{'' if len(all_problems) == 1 else 's'}; "
        "routing is tested by words alone, without an agent"
    )
    return 1 if all_problems else 0


if __name__ == "__main__":
    sys.exit(main())
