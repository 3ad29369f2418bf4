"""The version of the package, in a module of its own: every package may import it, and the build reads it here."""

__version__ = "0.1.0"
