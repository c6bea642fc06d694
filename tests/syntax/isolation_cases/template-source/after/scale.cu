{% for n in sizes %}
#if defined(USE_ROCM)
int a{{ n }};
#else
float a{{ n }};
#endif
{% endfor %}
