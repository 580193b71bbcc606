"""Pages and photos in, structured, searchable, measured data out."""

__version__ = "0.1.0"
