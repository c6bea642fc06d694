import sys

sys.path.insert(0, 'tools')
import ops

print(ops.scale(5))
