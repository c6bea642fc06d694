import torch

import main

print(main.run(torch.ones(2)))
