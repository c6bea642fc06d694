// ready \ 
float first = 1;
float second = 2;
