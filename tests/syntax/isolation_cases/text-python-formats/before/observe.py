def load(name):
    with open(name) as file:
        return file.read().format(steps=4)


print(load("scale.cu"))
