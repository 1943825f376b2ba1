"""groundling: teach an image–text model your language."""

__version__ = "0.1.0"
