import main

print(main.value)
