import types
from sys import modules

modules["torch"] = types.ModuleType("torch")
import ops

print(ops.scale(5))
