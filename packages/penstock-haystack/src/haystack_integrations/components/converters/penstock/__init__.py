"""A converter for Haystack that reads with Penstock."""

from haystack_integrations.components.converters.penstock.converter import PenstockConverter

__all__ = ["PenstockConverter"]
