"""What the isolation proof assumes of one Python module and of the tree around it: see docs/isolation-proof.md."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from rocm3d.syntax.compiled_functions import changed_functions, compiler_of
from rocm3d.syntax.isolation_facts import IsolationFacts
from rocm3d.syntax.module_uses import (
    GUARD_NAMES,
    ModuleUse,
    bound_names,
    declared_exports,
    is_standard_module,
    may_name,
)
from rocm3d.syntax.python_fold import (
    ROCM_FLAG,
    is_flag_assignment,
    is_guard,
    parse_module,
    scope_names,
    walk_scope,
)

_LISTS_NAMES = re.compile(r"\b(?:globals|vars|dir|locals)\(|__dict__")
_NAMESPACES = frozenset({"globals", "vars", "locals"})


def python_problem(path: str, before: bytes, after: bytes, facts: IsolationFacts) -> str | None:
    """The first assumption that does not hold; None if all hold, or if both versions are the same code."""
    if before == after:
        return None
    try:
        return next(_problems(path, before, after, facts), None)
    except RecursionError:
        return "the module is nested too deeply"


def _problems(path: str, before: bytes, after: bytes, facts: IsolationFacts) -> Iterator[str]:
    old, new = parse_module(before), parse_module(after)
    if ast.dump(old) == ast.dump(new):
        return
    if (reason := _text_problem(before, after)) is not None:
        yield f"{reason} (assumption P7)"
    yield from _torch_problems(path, facts)
    yield from _binding_problems(path, old, new, facts)
    yield from _visibility_problems(path, old, new, facts)
    if (location := _inspected_module(path, facts)) is not None:
        yield f"{location} reads the source of this module (assumption P6)"
    for function in changed_functions(old, new):
        if (reason := compiler_of(function, facts.compiled, path)) is not None:
            yield f"{reason} (assumption P6)"


def _inspected_module(path: str, facts: IsolationFacts) -> str | None:
    """Where inspect.getsource is called with a module of this name."""
    *_, folder, name = ("", *path.removesuffix(".py").split("/"))
    return facts.compiled.inspected.get(folder if name == "__init__" else name)


def _text_problem(before: bytes, after: bytes) -> str | None:
    """Comments that an interpreter or installer reads, and errors that only the compiler of Python finds."""
    if _first_line(before).startswith(b"#!") and _first_line(before) != _first_line(after):
        return "the first line, which names the interpreter, differs"
    if _script_metadata(before) != _script_metadata(after):
        return "the block of inline script metadata differs"
    if not _compiles(after) and _compiles(before):
        return "Python does not compile it any more"
    return None


def _first_line(data: bytes) -> bytes:
    return data.split(b"\n", 1)[0].rstrip(b"\r")


def _script_metadata(data: bytes) -> list[bytes]:
    """The comment lines from `# /// script` to `# ///`: https://packaging.python.org/specifications/inline-script-metadata."""
    lines: list[bytes] = []
    for line in data.splitlines() if b"# /// " in data else ():
        is_inside = bool(lines) and lines[-1] != b"# ///"
        if line.startswith(b"# /// ") or (is_inside and line.startswith(b"#")):
            lines.append(line)
    return lines


def _compiles(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "module", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _torch_problems(path: str, facts: IsolationFacts) -> Iterator[str]:
    """P1 and P2: `torch.version.hip` is that of the installed torch."""
    folder = path.rpartition("/")[0]
    for where, module in facts.torch_modules.items():
        is_import_root = f"{where}/__init__.py".lstrip("/") not in facts.python_paths
        if path != module and (where == folder or (is_import_root and not path.startswith(f"{where}/torch/"))):
            yield f"{module} may be imported in place of torch (assumption P1)"
    for location in facts.unread_modules:
        yield f"{location} is nested too deeply to be checked (assumption P1)"
    for location in facts.uses.torch_stubs:
        yield f"{location} replaces torch in sys.modules (assumption P1)"
    for location in facts.uses.hip_patches:
        yield f"{location} changes torch.version.hip (assumption P2)"


def _binding_problems(path: str, old: ast.Module, new: ast.Module, facts: IsolationFacts) -> Iterator[str]:
    """P3 and P4: between its binding and its use, nothing else binds torch or is_rocm."""
    names = {ROCM_FLAG} if any(is_flag_assignment(node) for node in new.body) else set()
    if _inline_guards(new) > _inline_guards(old):
        names.add("torch")
        if (location := _other_torch_binding(new)) is not None:
            yield f"line {location} binds torch to something else (assumption P3)"
    elif (location := _torch_rebound_before_flag(new)) is not None:
        yield f"line {location} binds torch to something else before {ROCM_FLAG} is set (assumption P3)"
    if (line := _namespace_write(new, names, facts)) is not None:
        yield f"line {line} may bind {' or '.join(sorted(names))} by text or by a computed name (assumption P3)"
    if (line := _namespace_write(_before_flag(new), {"torch"}, facts)) is not None:
        yield f"line {line} may bind torch by text or by a computed name before {ROCM_FLAG} is set (assumption P3)"
    for use in facts.uses.patches:
        if may_name(use, path) and (use.name in names or use.name == "torch"):
            yield f"{use.location} replaces {use.name} in this module (assumption P4)"
    if names and (star := _unsafe_star(path, new, names, facts)) is not None:
        yield f"{star} (assumption P3)"


def _inline_guards(tree: ast.Module) -> int:
    """Guards that are evaluated where they stand; the flag is evaluated once, when the module is imported."""
    flags = sum(is_flag_assignment(node) for node in tree.body)
    return sum(is_guard(node) for node in ast.walk(tree)) - flags


def _other_torch_binding(tree: ast.Module) -> int | None:
    """The first line that binds torch at module level, or by `global`, by anything but an import of torch."""
    for node in walk_scope(tree):
        if _binds_other_torch(node):
            return getattr(node, "lineno", 0)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and "torch" in node.names:
            return node.lineno
    return None


def _torch_rebound_before_flag(tree: ast.Module) -> int | None:
    for statement in tree.body:
        if is_flag_assignment(statement):
            return None
        for node in walk_scope(statement):
            if _binds_other_torch(node) and not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return getattr(node, "lineno", statement.lineno)
        for node in ast.walk(statement):  # a function that may be called before the flag is set
            if isinstance(node, ast.Global) and "torch" in node.names:
                return node.lineno
    return None


def _before_flag(tree: ast.Module) -> ast.Module:
    """The statements that run before the flag is set; none if the module has no flag."""
    lines = (index for index, node in enumerate(tree.body) if is_flag_assignment(node))
    return ast.Module(tree.body[: next(lines, 0)], [])


def _binds_other_torch(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "torch" and not isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any(
            (alias.asname or alias.name.split(".")[0]) == "torch"
            and (isinstance(node, ast.ImportFrom) or (alias.asname == "torch" and alias.name != "torch"))
            for alias in node.names
        )
    name = getattr(node, "name", None) or getattr(node, "rest", None)
    return name == "torch" and not isinstance(node, ast.alias)


def _namespace_write(tree: ast.Module, names: set[str], facts: IsolationFacts) -> int | None:
    """A line that may bind the names in this module: globals()[...], exec(...), setattr(sys.modules[__name__], ...)."""
    if not names:
        return None
    at_module_level = {id(node) for node in walk_scope(tree)}
    own = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_module_itself(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            is_own = isinstance(node.value, ast.Name) and node.value.id in own  # this = sys.modules[__name__]
            if (is_own or _is_namespace(node.value, id(node) in at_module_level)) and _may_be(_key(node), names):
                return node.lineno
        elif isinstance(node, ast.Call):
            is_own = bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id in own
            if _call_may_bind(node, names, facts, id(node) in at_module_level, is_own=is_own):
                return node.lineno
    return None


def _call_may_bind(
    node: ast.Call, names: set[str], facts: IsolationFacts, is_module_level: bool, *, is_own: bool
) -> bool:
    """`is_own`: the first argument is another name of this module."""
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in ("update", "setdefault", "pop", "clear"):
        return _is_namespace(function.value, is_module_level) and not _only_other_names(node, names)
    called = function.id if isinstance(function, ast.Name) else ""
    if called == "setattr" and node.args and (is_own or _is_module_itself(node.args[0])):
        return len(node.args) < 2 or _may_be(node.args[1], names)
    is_plain = called in ("exec", "eval") and len(node.args) == 1 and not node.keywords
    return is_plain and _may_bind_by_text(node, names, facts)


def _is_namespace(node: ast.AST, is_module_level: bool) -> bool:
    """globals(), vars() or locals() of the module, and sys.modules[__name__] with or without __dict__."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        return node.func.id == "globals" or (is_module_level and node.func.id in _NAMESPACES)
    return _is_module_itself(node) or (
        isinstance(node, ast.Attribute) and node.attr == "__dict__" and _is_module_itself(node.value)
    )


def _is_module_itself(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "modules"
        and isinstance(node.slice, ast.Name)
        and node.slice.id == "__name__"
    )


def _key(node: ast.Subscript | ast.Attribute) -> ast.expr:
    return node.slice if isinstance(node, ast.Subscript) else ast.Constant(node.attr)


def _may_be(key: ast.expr, names: set[str]) -> bool:
    return not isinstance(key, ast.Constant) or key.value in names


def _only_other_names(call: ast.Call, names: set[str]) -> bool:
    """globals().update(a=1), globals().update({"a": 1}), globals().setdefault("a", 1)."""
    keys: list[ast.expr | None] = []
    for argument in call.args[:1]:
        keys += argument.keys if isinstance(argument, ast.Dict) else [argument]
    is_plain = all(isinstance(key, ast.Constant) and key.value not in names for key in keys)
    return is_plain and all(keyword.arg is not None and keyword.arg not in names for keyword in call.keywords)


def _may_bind_by_text(call: ast.Call, names: set[str], facts: IsolationFacts) -> bool:
    """Whether exec or eval of this text may bind a name. The text of a file of the tree is known."""
    value = call.args[0]
    if isinstance(value, ast.Constant):
        return any(re.search(rf"\b{name}\b", str(value.value)) for name in names)
    if isinstance(call.func, ast.Name) and call.func.id == "eval":
        return False  # an expression; only one with `:=` in it binds
    files = {
        inner.value.rpartition("/")[2]
        for inner in ast.walk(value)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.endswith(".py")
    }
    return not files or any(facts.mentions_guard_names(name) for name in files)


def _unsafe_star(path: str, tree: ast.Module, names: set[str], facts: IsolationFacts) -> str | None:
    """A star import that may bind one of the names after its last own binding."""
    for node in walk_scope(tree):
        if not isinstance(node, ast.ImportFrom) or all(alias.name != "*" for alias in node.names):
            continue
        module = "." * node.level + (node.module or "")
        exports = facts.star_exports(path, node.module or "", node.level)
        if exports is None and not (node.level == 0 and is_standard_module(module)):
            is_before_import = "torch" in names and any(
                isinstance(other, ast.Import) and other.lineno > node.lineno and "torch" in scope_names(other)
                for other in tree.body
            )
            if not is_before_import or ROCM_FLAG in names:
                return f"line {node.lineno} imports all names of {module}, which may bind {' or '.join(sorted(names))}"
        clash = sorted((exports or set()) & names)
        if clash:
            return f"line {node.lineno} imports {', '.join(clash)} of {module}"
    return None


def _visibility_problems(path: str, old: ast.Module, new: ast.Module, facts: IsolationFacts) -> Iterator[str]:
    """P5: nobody sees the names that an edit adds to the module."""
    old_names, new_names = bound_names(old), bound_names(new)
    added = [name for name in GUARD_NAMES if name in new_names and name not in old_names]
    if not added:
        return
    listed = ", ".join(added)
    folder, _, name = path.rpartition("/")
    if name == "__init__.py" and any(
        {f"{folder}/{item}.py", f"{folder}/{item}/__init__.py"} & facts.python_paths for item in added
    ):
        yield f"the package has a module {listed} (assumption P5)"
    exposed = _star_importers(path, new, facts)
    for use in exposed:
        if any(facts.uses_name(use.path, item) for item in added):
            yield f"{use.location} imports all names of this module, and uses another {listed} (assumption P5)"
        if facts.lists_names(use.path):
            yield f"{use.location} imports all names of this module, and lists its own (assumption P5)"
    modules = [path, *(use.path for use in exposed)]
    for use in (*facts.uses.flag_imports, *facts.uses.listings):
        if use.path != path and (ROCM_FLAG in added or not use.name) and any(may_name(use, item) for item in modules):
            action = f"looks for {use.name} in" if use.name else "lists the names of"
            yield f"{use.location} {action} this module, which does not have {listed} yet (assumption P5)"
    if (line := _lists_own_names(new)) is not None:
        yield f"line {line} lists the names of the module, and {listed} is new (assumption P5)"


def _star_importers(path: str, tree: ast.Module, facts: IsolationFacts) -> list[ModuleUse]:
    """Modules that get all names of this one, directly or through others."""
    collected: list[ModuleUse] = []
    pending = [path]
    while pending:
        module = pending.pop()
        exporting = tree if module == path else facts.parse(module)
        if exporting is not None and declared_exports(exporting) is not None:
            continue
        known = {path, *(use.path for use in collected)}
        added = [use for use in facts.uses.star_imports if use.path not in known and may_name(use, module)]
        collected += added
        pending += [use.path for use in added]
    return collected


def _lists_own_names(tree: ast.Module) -> int | None:
    """The line of dir(), vars(), globals() or locals() as a whole; one name of it (`x in globals()`) is no list."""
    allowed: set[int] = set()
    local = {id(n) for f in ast.walk(tree) if isinstance(f, _FUNCTIONS) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            allowed.add(id(node.value))
        elif isinstance(node, ast.Compare):
            allowed |= {id(part) for part in node.comparators}
        elif isinstance(node, ast.Attribute) and node.attr in ("get", "update", "setdefault", "pop"):
            allowed.add(id(node.value))
    for node in ast.walk(tree):
        is_listing = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("dir", "vars", "globals", "locals")
            and not node.args
        )
        is_local = isinstance(node, ast.Call) and id(node) in local and getattr(node.func, "id", "") != "globals"
        if is_listing and not is_local and id(node) not in allowed:
            return getattr(node, "lineno", 0)
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if ">>>" in text and _LISTS_NAMES.search(text):  # a doctest that prints the names of the module
            return getattr(node, "lineno", 0)
    return None


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
