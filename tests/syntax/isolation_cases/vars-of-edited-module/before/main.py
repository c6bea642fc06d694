import ops

print(sorted(name for name in vars(ops) if name[0] != '_'))
