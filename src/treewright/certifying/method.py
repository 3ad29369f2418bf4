"""The methods of certifying, one file per method: its `METHOD` is an object of a subclass of `Method`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from treewright._registry import Folder

if TYPE_CHECKING:
    from treewright.certifying.certificate import Certificate

LN2 = math.log(2)
METHODS = Folder(__package__, [str(Path(__file__).parent)], "method", shared="METHOD")


class Method(ABC):
    """A way to certify a tree."""

    takes: ClassVar[Literal["test", "data"]]  # the rows that it needs: never used, or those of the training
    options: ClassVar[frozenset[str]]  # the other arguments of `certify` that it has
    title: ClassVar[str] = ""  # its name in the text of a certificate
    constant: ClassVar[float] = 1.0  # its inequality has constant / δ
    nats_per_bit: ClassVar[float] = LN2
    certify: Callable[..., Certificate]  # of a tree, delta, the rows and the options

    @property
    def name(self) -> str:
        """The name of its file."""
        return type(self).__module__.rpartition(".")[2]

    @abstractmethod
    def rows_text(self, certificate: Certificate) -> str:
        """The role of the rows, after their number."""

    @abstractmethod
    def confirms(self, certificate: Certificate) -> bool:
        """Whether the certificate's bits and training errors are those of its tree, computed anew."""

    def nats(self, certificate: Certificate) -> float:
        """The right side of its inequality, times the rows: the bits, and ln(constant / δ)."""
        return certificate.bits * self.nats_per_bit + math.log(self.constant / certificate.delta)


def method_of(name: str) -> Method:
    """The method of a name; ValueError if there is none."""
    method: Method = METHODS.module(name).METHOD
    return method


def held_out_methods() -> tuple[str, ...]:
    """The names of the methods that take rows that were never used."""
    return tuple(name for name in METHODS.names if method_of(name).takes == "test")
