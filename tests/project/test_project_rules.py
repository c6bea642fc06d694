"""Rules over the whole project: codes, schemas, file sizes, generated files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from rocm3d.knowledge.load import tomllib
from rocm3d.model.registry import module_names
from rocm3d.pipeline import check_knowledge
from rocm3d.scan.detector import DETECTORS, active_rules, load_detectors

ROOT = Path(__file__).resolve().parents[2]
KNOWLEDGE = ROOT / "knowledge"
SCHEMAS = {
    "targets": "target", "stacks": "stack", "packages": "package", "families": "family", "advice": "advice",
    "variables": "variable", "ports": "port", "cards": "card", "host": "host",
}  # fmt: skip
TABLES = ("tolerances", "backends", "suites", "indexes", "distributions", "release", "method", "secrets")
RECORDS = [
    *((path, schema) for folder, schema in SCHEMAS.items() for path in sorted((KNOWLEDGE / folder).glob("*.toml"))),
    *((path, "rule") for path in sorted((KNOWLEDGE / "rules").glob("*/*/rule.toml"))),
    *((KNOWLEDGE / f"{name}.toml", name) for name in TABLES if (KNOWLEDGE / f"{name}.toml").is_file()),
]


def test_every_detector_belongs_to_an_active_rule_without_matcher(knowledge):
    assert {rule.rule for rule in active_rules(knowledge) if rule.matcher is None} == set(module_names(DETECTORS))


def test_every_active_rule_has_a_detector_with_its_code(knowledge):
    rules = active_rules(knowledge)

    detectors = [(detector, rule) for rule in rules for detector in load_detectors(rule)]
    assert all((detector.code, detector.rule) == (rule.code, rule.rule) for detector, rule in detectors)
    assert {detector.code for detector, _ in detectors} == {rule.code for rule in rules}


def test_the_knowledge_base_has_no_problem(knowledge):
    assert [] == [str(problem) for problem in check_knowledge(knowledge)]


def test_every_record_is_valid_against_its_schema():
    validators = {name: validator(name) for name in {schema for _, schema in RECORDS}}
    errors = [
        f"{path.relative_to(KNOWLEDGE)}: {error.json_path}: {error.message}"
        for path, schema in RECORDS
        for error in validators[schema].iter_errors(toml_as_json(path))
    ]

    assert [] == errors


def validator(schema: str) -> jsonschema.Draft202012Validator:
    text = (KNOWLEDGE / "schema" / f"{schema}.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def toml_as_json(path: Path) -> object:
    """A TOML file as JSON, where dates are strings."""
    return json.loads(json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), default=str))


def test_a_wrong_record_is_refused_by_its_schema():
    with pytest.raises(jsonschema.ValidationError):
        validator("release").validate({"date": "2026-11-15", "extra": 1})


def test_generated_files_are_current():
    finished = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )

    assert (0, "") == (finished.returncode, finished.stdout)


def test_every_module_has_a_docstring():
    without_docstring = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if not path.read_text(encoding="utf-8").startswith('"""')
    ]

    assert [] == without_docstring


def test_neither_torch_nor_triton_is_a_dependency_in_any_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [*project["dependencies"], *(name for extra in project["optional-dependencies"].values() for name in extra)]

    assert [] == [name for name in names if re.match(r"(torch|triton)", name)]


def test_tests_mirror_the_source():
    """Each test module has a module that it tests, except in project/, whole/, full/ and benchmarks/."""
    source = ROOT / "src" / "rocm3d"
    orphans = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        relative = path.relative_to(ROOT / "tests")
        if relative.parts[0] in ("project", "whole", "benchmarks", "full"):
            continue
        stem = relative.name.removeprefix("test_").removesuffix(".py")
        candidates = [source / relative.parent / f"{stem}.py", source / relative.parent / stem]
        # A module may have more test files, one per aspect: test_<module>_<aspect>.py.
        candidates += [source / relative.parent / f"{stem.rsplit('_', n)[0]}.py" for n in (1, 2, 3)]
        candidates.append(ROOT / "knowledge" / "rules" / relative.parent.name / stem)
        if not any(candidate.exists() for candidate in candidates):
            orphans.append(str(relative))

    assert [] == orphans


def test_make_port_ports_a_copy_of_the_default_example():
    ended = subprocess.run(["make", "-n", "port"], cwd=ROOT, capture_output=True, text=True, check=True)

    assert (
        '/rocm3d port "examples/splat-trainer" --gpu "mi300x" --into "build/port/splat-trainer" --compile'
        in ended.stdout
    )
