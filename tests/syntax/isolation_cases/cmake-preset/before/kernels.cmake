set(SOURCES scale.cu)
message("${SOURCES}")
