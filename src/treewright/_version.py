"""The version of the package, in a module of its own: all packages may import it, the build reads it here."""

__version__ = "0.1.0"
