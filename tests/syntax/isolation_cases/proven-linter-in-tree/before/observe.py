import lint
