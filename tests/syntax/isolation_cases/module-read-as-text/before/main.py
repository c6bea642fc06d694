with open("ops.py") as file:
    print(file.read().count("="))
