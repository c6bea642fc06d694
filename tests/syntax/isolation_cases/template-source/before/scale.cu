{% for n in sizes %}
float a{{ n }};
{% endfor %}
