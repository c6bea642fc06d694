asm(".incbin \"scale.cu\"");
