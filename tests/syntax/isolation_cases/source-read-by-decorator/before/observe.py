import ops

print(ops.scale.size)
