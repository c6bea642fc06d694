with open("scale.cu", "rb") as file:
    print(file.readlines()[2:4])
