import setup

print(setup.flags)
