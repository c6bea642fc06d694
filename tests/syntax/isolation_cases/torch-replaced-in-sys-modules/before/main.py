import sys
import types

sys.modules["torch"] = types.ModuleType("torch")
import ops

print(ops.scale(5))
