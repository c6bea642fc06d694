"""Python files that call an installer: subprocess.run([..., "pip", "install", ...]), os.system("pip install ...").

Parsed, never run. Messages that recommend an install command are not calls and do not count. String literals are traced
through variables, concatenations, loops and calls, which covers how setup files and installers build lists; values read
from files or computed stay unknown.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rocm3d.manifest.install_line import ShellWord, shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.model.text import replace_surrogates

# Parts of the names of functions that run a command.
# fmt: off
_RUNNER_NAME_PARTS = frozenset({
    "run", "exec", "execute", "call", "command", "cmd", "shell", "bash", "sh", "system", "install", "pip", "pipmain",
    "main", "popen", "output", "getoutput",
})
# fmt: on
_MAX_STEPS = 20_000  # limit on resolving names: nested sums of names grow exponentially
_FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSIGNING_NODES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension, ast.Call)
_SPLIT_FUNCTIONS = frozenset({"split", "format", "strip", "dedent"})
_VERB = re.compile(r"\s*install\s")
_PIP = re.compile(rb"pip(?!e(?!nv))")  # also pip3 and pipenv, but no pipe and no pipeline


def is_python_script(path: str) -> bool:
    """Whether a path is a Python file other than setup.py, which has its own reader."""
    parts = posix_path(path)
    return parts.suffix == ".py" and parts.name != "setup.py"


def read(path: str, data: bytes) -> ParsedManifest:
    literals = PythonLiterals.parse(data) if _PIP.search(data) else None
    builder = ManifestBuilder() if literals is None else installs(literals)
    builder.mentions, builder.options = list(dict.fromkeys(builder.mentions)), list(dict.fromkeys(builder.options))
    builder.commands = list(dict.fromkeys(builder.commands))
    builder.sort_mentions()
    return builder.manifest(path, reader.kind, data)


def installs(literals: PythonLiterals) -> ManifestBuilder:
    """Distributions, indexes and commands of all calls that run an installer."""
    builder = ManifestBuilder()
    for node in literals.nodes:
        for command_line in _command_lines(literals, node) if isinstance(node, (ast.Call, ast.List, ast.Tuple)) else ():
            script = ManifestBuilder(quote_offset=0)
            script.add_commands(command_line)
            if script.mentions or script.options:
                builder.mentions += script.mentions
                builder.options += script.options
                builder.commands += script.commands
    return builder


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
    words = _words(literals, _unsplit(node.args[0]))
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
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
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


@dataclass
class PythonLiterals:
    """One parsed file: its nodes, and every value that is assigned to each name."""

    lines: list[bytes]
    nodes: list[ast.AST]
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    steps: int = 0

    @classmethod
    def parse(cls, data: bytes) -> PythonLiterals | None:
        """Parse a file; None if it is not valid Python 3."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # SyntaxWarnings of the scanned code are not ours to report
                nodes = _nodes_with_fields(ast.parse(data))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        literals = cls(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), nodes)
        literals._collect_values()
        return literals

    def position(self, node: ast.expr) -> tuple[int, int]:
        """1-based line and column (in characters) of the first character inside the quotes of a literal."""
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else b""
        start = node.col_offset
        while line[start : start + 1].lower() in (b"r", b"b", b"u", b"f"):
            start += 1
        quotes = 3 if line[start : start + 3] in (b'"""', b"'''") else 1
        return node.lineno, len(line[: start + quotes].decode("utf-8", "replace")) + 1

    def strings(self, node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
        """The string literals that an expression may evaluate to, in order; `*` replaces interpolated parts."""
        stack: list[tuple[ast.expr, frozenset[str]]] = [(node, frozenset())]
        while stack and self.steps < _MAX_STEPS:
            self.steps += 1
            inner, visited = stack.pop()
            if isinstance(inner, ast.Constant):
                if isinstance(inner.value, str):
                    yield inner, replace_surrogates(inner.value)
            elif isinstance(inner, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "*" for part in inner.values)
                yield inner, replace_surrogates("".join(str(part) for part in parts))
            elif isinstance(inner, ast.Name):
                if inner.id not in visited:
                    stack += [(value, visited | {inner.id}) for value in reversed(self.values.get(inner.id, []))]
            else:
                stack += [(child, visited) for child in reversed(_children(inner))]

    def _collect_values(self) -> None:
        parameters = {node.name: node.args for node in self.nodes if isinstance(node, _FUNCTION_NODES)}
        for node in (node for node in self.nodes if isinstance(node, _ASSIGNING_NODES)):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value:
                self._assign(node.target, node.value)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                self._assign(node.target, node.iter)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                if node.func.attr in ("append", "extend"):
                    self._assign(node.func.value, node.args[0])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in parameters:
                self._assign_parameters(node, parameters[node.func.id])

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)

    def _assign_parameters(self, call: ast.Call, parameters: ast.arguments) -> None:
        """Record the arguments of a call as values of the parameters of a function in this file."""
        names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        names += [parameters.vararg.arg] * len(call.args) if parameters.vararg is not None else []
        named = ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
        for name, value in (*zip(names, call.args, strict=False), *named):
            self.values.setdefault(name, []).append(value)


def _nodes_with_fields(tree: ast.AST) -> list[ast.AST]:
    """The nodes in the order of ast.walk, without nodes that have no fields (a third of all)."""
    nodes = [tree]
    for node in nodes:  # grows during iteration
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [child for child in value if isinstance(child, ast.AST) and child._fields]
            elif isinstance(value, ast.AST) and value._fields:
                nodes.append(value)
    return nodes


def _children(node: ast.expr) -> list[ast.expr]:
    """The parts of an expression that may contain literals of a list."""
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return _call_parts(node) if isinstance(node, ast.Call) else []


def _call_parts(node: ast.Call) -> list[ast.expr]:
    if isinstance(node.func, ast.Name) and node.func.id in ("list", "sorted", "set"):
        return node.args
    return [node.func.value] if isinstance(node.func, ast.Attribute) and node.func.attr == "format" else []


reader = ManifestReader(__name__, is_python_script, read, required_bytes=(b"pip", b"install"))
