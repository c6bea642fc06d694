"""Python files that call an installer: subprocess.run([..., "pip", "install", ...]), os.system("pip install ...").

Parsed, never run. Messages that recommend an install command are not calls and do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocm3d.manifest.install_line import ShellWord, shell_commands
from rocm3d.manifest.manifest import InstallOption, ManifestReader, Mention, ParsedManifest, ScriptCommand, posix_path
from rocm3d.manifest.python_literals import PythonLiterals
from rocm3d.manifest.script import ScriptAnalysis

# Parts of the names of functions that run a command.
# fmt: off
_RUNNER_NAME_PARTS = frozenset({
    "run", "exec", "execute", "call", "command", "cmd", "shell", "bash", "sh", "system", "install", "pip", "pipmain",
    "main", "popen", "output", "getoutput",
})
# fmt: on
_SPLIT_FUNCTIONS = frozenset({"split", "format", "strip", "dedent"})
_VERB = re.compile(r"\s*install\s")
_PIP = re.compile(rb"pip(?!e(?!nv))")  # also pip3 and pipenv, but no pipe and no pipeline


def is_python_script(path: str) -> bool:
    """Whether a path is a Python file other than setup.py, which has its own reader."""
    parts = posix_path(path)
    return parts.suffix == ".py" and parts.name != "setup.py"


def read(path: str, data: bytes) -> ParsedManifest:
    literals = PythonLiterals.parse(data) if _PIP.search(data) else None
    mentions, options, commands = ([], [], []) if literals is None else installs(literals)
    ordered = sorted(dict.fromkeys(mentions), key=lambda mention: (mention.line, mention.column))
    return ParsedManifest(
        path, reader.kind, data, tuple(ordered), tuple(dict.fromkeys(options)), commands=tuple(dict.fromkeys(commands))
    )


def installs(literals: PythonLiterals) -> tuple[list[Mention], list[InstallOption], list[ScriptCommand]]:
    """Distributions, indexes and commands of all calls that run an installer."""
    mentions: list[Mention] = []
    options: list[InstallOption] = []
    commands: list[ScriptCommand] = []
    for node in literals.nodes:
        for command_line in _command_lines(literals, node) if isinstance(node, (ast.Call, ast.List, ast.Tuple)) else ():
            script = ScriptAnalysis(quote_offset=0)
            for command in command_line:
                script.add_command(command)
            if script.mentions or script.options:
                mentions += script.mentions
                options += script.options
                commands += script.commands
    return mentions, options, commands


def _command_lines(
    literals: PythonLiterals, node: ast.Call | ast.List | ast.Tuple
) -> Iterator[list[Sequence[ShellWord]]]:
    """The command lines that a call passes to a shell or process, each as a list of commands."""
    if not isinstance(node, ast.Call):
        if any(isinstance(element, ast.Constant) and element.value == "install" for element in node.elts):
            yield [_words(literals, node)]
        return
    name = _dotted_name(node.func)
    if not _RUNNER_NAME_PARTS & set(name.rsplit(".", 1)[-1].lower().split("_")) or not node.args:
        return
    implied_pip = "pip " if _PIP.search(name.encode()) else ""
    argument = _unsplit(node.args[0])
    words = _words(literals, argument)
    if not all(" " in token.text for token in words):  # a list of words, not a command line
        starts_with_install = bool(implied_pip) and words[0].text == "install"
        yield [[replace(words[0], text="pip"), *words] if starts_with_install else words]
        return
    for token in words:
        prefix = implied_pip if _VERB.match(token.text) else ""
        yield list(shell_commands(f"{prefix}{token.text}", token.line, token.column - len(prefix)))


def _words(literals: PythonLiterals, node: ast.expr) -> list[ShellWord]:
    """The strings of a list as the words of one command."""
    return [ShellWord(text, *literals.position(inner), inner.lineno) for inner, text in literals.strings(node)]


def _unsplit(node: ast.expr) -> ast.expr:
    """The expression inside shlex.split("..."), "...".split() and the like."""
    while isinstance(node, ast.Call) and _dotted_name(node.func).rsplit(".", 1)[-1] in _SPLIT_FUNCTIONS:
        is_method = isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name)
        if is_method and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif node.args:
            node = node.args[0]
        else:
            break
    return node


def _dotted_name(node: ast.expr) -> str:
    """The dotted name of a function; only its attribute parts if the base is not a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts += [node.id] if isinstance(node, ast.Name) else []
    return ".".join(reversed(parts))


reader = ManifestReader(__name__, is_python_script, read, required_bytes=(b"pip", b"install"))
