import main
