"""Renders findings as SARIF 2.1.0, for code scanning and editors. All paths are relative."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rocm3d.model.finding import fingerprints
from rocm3d.model.inventory import COMMENTS
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.code import Code
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Scan, SkippedFile

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "rocm3dFinding/v1"
ROOT = "%SRCROOT%"


def render(document: Scan, knowledge: Knowledge) -> str:
    """One log with one run. Only rules that occur are listed; their texts come from knowledge/rules."""
    findings = (*document.findings, *(item.finding for item in document.hidden))
    sources = (*(None for _ in document.findings), *(item.source for item in document.hidden))
    rules = {finding.code: finding.rule for finding in findings}
    order = sorted(rules)
    fingerprint_values = fingerprints(findings)
    run = {
        "tool": {
            "driver": {
                "name": "rocm3d",
                "version": document.tool_version,
                "rules": [_rule(code, rules[code], knowledge.codes.get(code)) for code in order],
            }
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(item) for item in document.inventory.skipped],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, order.index(finding.code), mark) | _suppressions(source)
            for finding, mark, source in zip(findings, fingerprint_values, sources, strict=True)
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2) + "\n"


def _rule(code: str, rule: str, record: Code | None) -> dict[str, Any]:
    """`record` is None for a code that this knowledge base does not contain."""
    descriptor: dict[str, Any] = {"id": code, "name": "".join(word.capitalize() for word in rule.split("_"))}
    if record is None:
        return descriptor
    summary = _show_placeholders(record.message)
    steps = [
        f"What to do: {_show_placeholders(record.hint)}",
        *(f"{name}: {text}" for name, text in (("CDNA", record.cdna), ("RDNA", record.rdna)) if text),
        *([f"Example: {record.example}"] if record.example else []),
    ]
    return descriptor | {
        "shortDescription": _message(summary),
        "fullDescription": _message(" ".join(record.help.split()) or summary),
        "help": _message("\n".join(steps)),
        "defaultConfiguration": {"level": record.severity},
    }


def _show_placeholders(text: str) -> str:
    """A text of a rule without a finding: {facts} become FACTS."""
    return re.sub(r"\{(\w+)\}", lambda match: match[1].upper(), text)


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    properties = {"hint": clean(finding.hint), "family": finding.family, "package": finding.package}
    location = _location(finding.path)
    location["physicalLocation"]["region"] = {"startLine": finding.line, "startColumn": finding.column}
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": _message(clean(finding.message)),
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "properties": {key: value for key, value in properties.items() if value is not None},
    }


def _suppressions(source: str | None) -> dict[str, Any]:
    """What hides a result; no entry for a result that is shown."""
    if source is None:
        return {}
    if source == COMMENTS:
        return {"suppressions": [{"kind": "inSource", "justification": "an ignore comment of the repository"}]}
    return {"suppressions": [{"kind": "external", "justification": f"settings in {clean(source)}"}]}


def _notification(skipped: SkippedFile) -> dict[str, Any]:
    text = f"not read or not fully parsed: {clean(skipped.path)}: {clean(skipped.reason)}"
    return {"level": "warning", "message": _message(text), "locations": [_location(skipped.path)]}


def _location(path: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": quote(path, safe="/"), "uriBaseId": ROOT}}}


def _message(text: str) -> dict[str, str]:
    """Escapes SARIF syntax: `[text](target)` would be a link, and a single brace a placeholder."""
    return {"text": text.replace("](", "] (").replace("{", "{{").replace("}", "}}")}
