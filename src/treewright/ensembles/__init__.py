"""Many trees that answer together, and one tree that answers as they do."""

from __future__ import annotations
