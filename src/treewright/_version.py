"""The version of the package; a module of its own, so that every package may name it, and the build reads it from here."""

__version__ = "0.1.0"
