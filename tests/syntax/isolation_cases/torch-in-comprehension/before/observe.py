import ops

print(ops.values)
