import ast
from pathlib import Path

for path in sorted(Path(".").glob("op*.py")):
    tree = ast.parse(path.read_text())
    print([type(node).__name__ for node in tree.body])
