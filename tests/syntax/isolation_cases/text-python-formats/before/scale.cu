#define STEPS {steps}
float first = 1;
