import ops

print(ops.scale(5))
