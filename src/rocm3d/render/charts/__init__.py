"""Charts of the report as inline SVG: no script, colours from the page's CSS, with text for screen readers."""
