import ops

print(ops.scale(1))
