import ast
import inspect


def jit(function):
    tree = ast.parse(inspect.getsource(function))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return lambda x: sorted(names)
