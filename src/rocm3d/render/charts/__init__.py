"""Pictures of the report as inline SVG: no script, colours by the page's own style, with words for a screen reader."""
