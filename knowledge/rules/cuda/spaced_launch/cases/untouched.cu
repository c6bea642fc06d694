#include <vector>

// scale << <grid, 256 >> > (x, 2.0f, n);
int shifted(int a, int b, int c) { return (a << b) >> c; }
std::vector<std::vector<int> > nested;
const char* note = "<< <1, 1>> >";
