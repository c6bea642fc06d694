#define RUN(x) x
RUN(int a;
)
