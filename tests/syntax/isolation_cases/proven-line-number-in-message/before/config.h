#define CHECK(x) report((x), __FILE__, __LINE__, static_cast<unsigned>(__LINE__))
