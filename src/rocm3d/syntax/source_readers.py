"""Who reads a source file of the tree as text: programs, build files, patches, documentation, lists of digests.

A guard changes nothing for a compiler, but it does for a program that splits, formats, hashes or patches the text.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from rocm3d.syntax.cmake_fold import CMakeFoldError, commands

_READERS = frozenset(
    {"open", "read_text", "read_bytes", "resource_string", "resource_stream", "get_data", "getline", "getlines",
     "read_binary", "open_text", "open_binary", "fromfile", "loadtxt", "genfromtxt"}
)  # fmt: skip
PYTHON_READS = re.compile(
    rb"\bopen\(|\bread_(?:text|bytes)|\bresource_str|\bget_data\b|\bgetlines?\b|\bopen_(?:text|b)"
)
_INTERPRETS = frozenset({"exec", "eval", "compile", "parse", "format", "Template", "sub", "replace", "from_string"})
_SUFFIXES = r"cuh?|h|hpp|hh|hxx|cpp|cc|cxx|inl|ipp|tpp|txx|py|cmake"
_LITERAL = re.compile(rb"(#\s*include(?:_next)?\s*)?\"([^\"\n]*?[\w*]\.(?:" + _SUFFIXES.encode() + rb"))\"")
_EMBEDDED = re.compile(rb"(?:#\s*embed|\.incbin)\s*[<\\\"]+([^\"<>\\\n]+)")
_TOOL = re.compile(r"\b(?:xxd|bin2c|sed|awk|perl|patch|objcopy|sha(?:1|256|512)?sum|md5sum|m4|envsubst)\b")
_TOOL_FILE = re.compile(r"[\w./*${}-]{0,200}[\w*]\.(?:" + _SUFFIXES + r")\b")
_PATCHED = re.compile(rb"^\+\+\+ (?:b/)?([^\t\r\n]+)", re.MULTILINE)
_BY_LINE = re.compile(
    rb"literalinclude::\s*(\S+)\s*\n(?:[ \t]+:[^\n]*\n)*?[ \t]+:(?:lines|emphasize-lines):|--8<--\s*[\"']([^\"':]+):\d"
)
DIGEST = re.compile(rb"(?<![0-9A-Za-z])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9A-Za-z])")


@dataclass(frozen=True)
class TextReader:
    """One location that reads files whose path matches `pattern`: a path, its end, or a pattern with `*`."""

    pattern: str
    location: str
    how: str = "reads it as text"

    def reads(self, path: str) -> bool:
        pattern = re.sub(r"\$\{[^}]*\}|\{[^}]*\}|\$\w+", "*", self.pattern).replace("\\", "/")
        parts = [part for part in PurePosixPath(pattern).parts if part not in ("/", ".", "..")]
        if not parts:
            return False
        tail = path.split("/")[-len(parts) :]
        if not fnmatchcase(tail[-1], parts[-1]):
            return False
        return all(fnmatchcase(*pair) for pair in zip(reversed(tail), reversed(parts), strict=False))

    @property
    def plain_name(self) -> str:
        """The file name that it reads; empty if that is a pattern."""
        name = self.pattern.replace("\\", "/").rpartition("/")[2]
        return "" if re.search(r"[*?\[${]", name) else name

    def __str__(self) -> str:
        return f"{self.location} {self.how}"


def python_readers(path: str, tree: ast.Module) -> Iterator[TextReader]:
    """Files that a module opens. Names of files are followed through assignments, and through one call."""
    strings = _FileNames(tree)
    interprets = any(_called(node) in _INTERPRETS for node in ast.walk(tree))
    imported = {
        alias.asname or alias.name.split(".")[0]: alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    for call, scope in strings.calls:
        if _called(call) not in _READERS or _writes(call):
            continue
        location = f"{path}:{call.lineno}"
        if _is_own_file(call):
            yield TextReader(path, location)
        if (module := _module_of_file(call)) and module in imported:  # linecache.getline(module.__file__, 3)
            name = imported[module].rpartition(".")[2]
            yield from (TextReader(f"{name}.py", location), TextReader(f"{name}/__init__.py", location))
        for text in strings.of(call, scope):
            suffix = PurePosixPath(text).suffix or (text if text.startswith(".") else "")
            if not re.fullmatch(rf"\.(?:{_SUFFIXES})", suffix):
                continue
            pattern = f"*{text}" if text.startswith(".") else text
            # A program that opens any Python file is a linter or an editor, unless it interprets what it reads.
            if "*" not in pattern or suffix != ".py" or interprets:
                yield TextReader(pattern, location)


Scope = tuple[ast.AST, ...]  # the module and the functions around a node
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class _FileNames:
    """The strings that an expression of a module may be, by the assignments in its scopes."""

    def __init__(self, tree: ast.Module) -> None:
        self.calls: list[tuple[ast.Call, Scope]] = []
        self.values: dict[tuple[int, str], list[tuple[ast.expr, Scope]]] = defaultdict(list)
        self.arguments: dict[str, list[tuple[ast.expr, Scope]]] = defaultdict(list)  # by the name of the function
        stack: list[tuple[ast.AST, Scope]] = [(tree, (tree,))]
        while stack:
            node, scope = stack.pop()
            self._record(node, scope)
            inner = (*scope, node) if isinstance(node, _SCOPES) else scope
            stack += [(child, inner) for child in ast.iter_child_nodes(node)]

    def _record(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Call):
            self.calls.append((node, scope))
            self.arguments[_called(node)] += [
                (value, scope) for value in (*node.args, *(keyword.value for keyword in node.keywords))
            ]
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value, scope)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._bind(node.target, node.value, scope)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._bind(node.target, node.iter, scope)

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self.values[id(scope[-1]), name.id].append((value, scope))

    def of(self, root: ast.AST, scope: Scope, depth: int = 3) -> set[str]:
        collected: set[str] = set()
        stack: list[ast.AST] = [root]
        while stack:
            inner = stack.pop()
            if isinstance(inner, ast.JoinedStr):
                collected.add("".join(str(p.value) if isinstance(p, ast.Constant) else "*" for p in inner.values))
                continue
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Add, ast.Mod)):
                if isinstance(inner.right, ast.Constant) and isinstance(inner.right.value, str):
                    collected.add(f"*{inner.right.value}")
                stack += [inner.left, inner.right]
            elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and len(inner.value) < 1000:
                collected.add(inner.value)
            elif isinstance(inner, ast.Name) and depth:
                for value, where in self._named(inner.id, scope):
                    collected |= self.of(value, where, depth - 1)
            else:
                stack += ast.iter_child_nodes(inner)
        return collected

    def _named(self, name: str, scope: Scope) -> list[tuple[ast.expr, Scope]]:
        """Values of a name in the innermost scope that binds it; for a parameter, the arguments of all calls."""
        for index in range(len(scope) - 1, -1, -1):
            if values := self.values.get((id(scope[index]), name)):
                return values
            function = scope[index]
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
                isinstance(node, ast.arg) and node.arg == name for node in ast.walk(function.args)
            ):
                return self.arguments.get(function.name, [])
        return []


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _writes(call: ast.Call) -> bool:
    modes = [call.args[1]] if len(call.args) > 1 else [k.value for k in call.keywords if k.arg == "mode"]
    # Path(...).open("w") has the mode first.
    modes += call.args[:1] if isinstance(call.func, ast.Attribute) else []
    return any(
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and re.fullmatch(r"[wax]b?t?\+?", mode.value)
        for mode in modes
    )


def _is_own_file(call: ast.Call) -> bool:
    """open(__file__), Path(__file__).read_text(), linecache.getline(__file__, 3)."""
    return any(isinstance(node, ast.Name) and node.id == "__file__" for node in _opened(call))


def _module_of_file(call: ast.Call) -> str:
    """`ops` of open(ops.__file__); empty for anything else."""
    for node in _opened(call):
        if isinstance(node, ast.Attribute) and node.attr == "__file__" and isinstance(node.value, ast.Name):
            return node.value.id
    return ""


def _opened(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What open(X) and Path(X).open() open."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    of_path = owner.args[0] if isinstance(owner, ast.Call) and owner.args else None
    return call.args[0] if call.args else None, of_path


def cmake_readers(path: str, data: bytes) -> Iterator[TextReader]:
    try:
        for command in commands(data):
            words = [argument.decode("utf-8", "replace").strip('"') for argument in command.arguments]
            is_reader = command.name == b"configure_file" or (
                command.name == b"file" and words[:1] and re.match(r"READ|STRINGS|MD5|SHA|GENERATE", words[0])
            )
            is_tool = command.name in (b"add_custom_command", b"execute_process", b"add_custom_target") and any(
                _TOOL.search(word) for word in words
            )
            if is_reader or is_tool:
                location = f"{path}:{data.count(bytes([10]), 0, command.start) + 1}"
                names = (word for word in words if _TOOL_FILE.fullmatch(word))
                yield from (TextReader(name, location) for name in names)
    except CMakeFoldError:
        return


def cpp_readers(path: str, data: bytes) -> Iterator[TextReader]:
    """Names of source files in strings, as of a program that loads its kernels; and embedded files."""
    for match in _LITERAL.finditer(data):
        if match[1] is None:
            yield TextReader(
                match[2].decode("utf-8", "replace"), _place(path, data, match.start()), "names it in a string"
            )
    for match in _EMBEDDED.finditer(data):
        yield TextReader(match[1].decode("utf-8", "replace"), _place(path, data, match.start()), "embeds it")


def script_readers(path: str, data: bytes) -> Iterator[TextReader]:
    """Files on the lines of a script that run a tool which edits or hashes text."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if _TOOL.search(line) and not line.lstrip().startswith("#"):
            yield from (TextReader(name, f"{path}:{number}") for name in _TOOL_FILE.findall(line))


def patch_readers(path: str, data: bytes) -> Iterator[TextReader]:
    for match in _PATCHED.finditer(data):
        yield TextReader(match[1].decode("utf-8", "replace"), path, "is a patch of it")


def document_readers(path: str, data: bytes) -> Iterator[TextReader]:
    for match in _BY_LINE.finditer(data):
        name = (match[1] or match[2]).decode("utf-8", "replace")
        yield TextReader(name, _place(path, data, match.start()), "includes it by line number")


def _place(path: str, data: bytes, offset: int) -> str:
    return f"{path}:{data.count(bytes([10]), 0, offset) + 1}"
