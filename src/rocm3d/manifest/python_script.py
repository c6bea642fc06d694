"""Python files that call an installer: subprocess.run([..., "pip", "install", ...]), os.system("pip install ...").

Parsed, never run. Messages that recommend an install command are not calls and do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocm3d.manifest.install_line import Word, shell_commands
from rocm3d.manifest.manifest import Command, Manifest, Mention, Option, Reader, pure
from rocm3d.manifest.python_literals import Literals
from rocm3d.manifest.script import Script

# Parts of the names of functions that run a command.
# fmt: off
_RUNNERS = frozenset({
    "run", "exec", "execute", "call", "command", "cmd", "shell", "bash", "sh", "system", "install", "pip", "pipmain",
    "main", "popen", "output", "getoutput",
})
# fmt: on
_SPLITS = frozenset({"split", "format", "strip", "dedent"})
_VERB = re.compile(r"\s*install\s")
_PIP = re.compile(rb"pip(?!e(?!nv))")  # also pip3 and pipenv, but no pipe and no pipeline


def is_script(path: str) -> bool:
    """Whether a path is a Python file other than setup.py, which has its own reader."""
    parts = pure(path)
    return parts.suffix == ".py" and parts.name != "setup.py"


def read(path: str, data: bytes) -> Manifest:
    literals = Literals.of(data) if _PIP.search(data) else None
    mentions, options, commands = ([], [], []) if literals is None else installed(literals)
    ordered = sorted(dict.fromkeys(mentions), key=lambda item: (item.line, item.column))
    return Manifest(
        path, reader.kind, data, tuple(ordered), tuple(dict.fromkeys(options)), commands=tuple(dict.fromkeys(commands))
    )


def installed(literals: Literals) -> tuple[list[Mention], list[Option], list[Command]]:
    """Distributions, indexes and commands of all calls that run an installer."""
    mentions: list[Mention] = []
    options: list[Option] = []
    commands: list[Command] = []
    for node in literals.nodes:
        for words in _scripts(literals, node) if isinstance(node, (ast.Call, ast.List, ast.Tuple)) else ():
            script = Script(quote=0)
            for command in words:
                script.take(command)
            if script.mentions or script.options:
                mentions += script.mentions
                options += script.options
                commands += script.commands
    return mentions, options, commands


def _scripts(literals: Literals, node: ast.Call | ast.List | ast.Tuple) -> Iterator[list[Sequence[Word]]]:
    """The command lines that a call passes to a shell or process, each as a list of commands."""
    if not isinstance(node, ast.Call):
        if any(isinstance(item, ast.Constant) and item.value == "install" for item in node.elts):
            yield [_words(literals, node)]
        return
    name = _name(node.func)
    if not _RUNNERS & set(name.rsplit(".", 1)[-1].lower().split("_")) or not node.args:
        return
    before = "pip " if _PIP.search(name.encode()) else ""
    given = _inside(node.args[0])
    words = _words(literals, given)
    if not all(" " in word.text for word in words):  # a list of words, not a command line
        by_pip = bool(before) and words[0].text == "install"
        yield [[replace(words[0], text="pip"), *words] if by_pip else words]
        return
    for word in words:
        verb = before if _VERB.match(word.text) else ""
        yield list(shell_commands(f"{verb}{word.text}", word.line, word.column - len(verb)))


def _words(literals: Literals, node: ast.expr) -> list[Word]:
    """The strings of a list as the words of one command."""
    return [Word(text, *literals.place(inner), inner.lineno) for inner, text in literals.strings(node)]


def _inside(node: ast.expr) -> ast.expr:
    """The expression inside shlex.split("..."), "...".split() and the like."""
    while isinstance(node, ast.Call) and _name(node.func).rsplit(".", 1)[-1] in _SPLITS:
        is_method = isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name)
        if is_method and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif node.args:
            node = node.args[0]
        else:
            break
    return node


def _name(node: ast.expr) -> str:
    """The dotted name of a function; only its attribute parts if the base is not a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts += [node.id] if isinstance(node, ast.Name) else []
    return ".".join(reversed(parts))


reader = Reader(__name__, is_script, read, needs=(b"pip", b"install"))
