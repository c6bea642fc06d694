import ops

print(ops.__all__)
