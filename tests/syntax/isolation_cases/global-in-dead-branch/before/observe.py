import ops

ops.set_last()
print(ops.last)
