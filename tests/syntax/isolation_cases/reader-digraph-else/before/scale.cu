float first = 1;
