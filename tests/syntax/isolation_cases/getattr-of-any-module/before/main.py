import importlib

for name in ["ops"]:
    print(getattr(importlib.import_module(name), "is_rocm", "unknown"))
