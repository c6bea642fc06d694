from pathlib import Path

for path in Path(".").glob("*.py"):
    if any(len(line) > 120 for line in path.read_text().splitlines()):
        print(path)
