"""Charts as SVG text that stands in a page or alone."""
