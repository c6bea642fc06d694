from ops import Net

net = Net()


def run(x):
    return net(x)
