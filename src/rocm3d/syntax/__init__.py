"""One parse per source file; guard regions; the isolation proof."""
