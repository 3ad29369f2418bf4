"""Built-in data to try things on: it is shipped with the package, so nothing is downloaded."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import unknown_attribute

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class SpamData:
    """E-mails: how often words and characters occur in each, and whether it is spam."""

    data: NDArray[np.float64]  # (4601, 57)
    target: NDArray[np.str_]  # (4601,) "spam" or "nonspam"
    feature_names: tuple[str, ...]
    is_test: NDArray[np.bool_]  # (4601,) the held-out rows of "The Elements of Statistical Learning"

    def table(self, rows: Any = slice(None)) -> dict[str, NDArray[np.float64]]:
        """The columns by name, without a copy unless `rows` (a mask, slice or indices) asks for one."""
        return dict(zip(self.feature_names, self.data[rows].T, strict=True))

    def frame(self) -> pandas.DataFrame:
        """All columns and the target, `type`, as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.data, columns=list(self.feature_names)).assign(type=self.target)


def load_loans() -> dict[str, list[str]]:
    """3,000 invented loan applications as the text cells of a CSV file: who applied, for what, and `default`.

    Amounts have a currency, dates the order of the country, cells are empty, and one column was filled in
    after the outcome was known. The rows are drawn from rules (docs/case_studies/make_tables.py); nobody's
    data is in them.

    >>> loans = load_loans()
    >>> {name: column[0] for name, column in loans.items() if name in ("applied", "amount", "default")}
    {'applied': '01.04.2023', 'amount': '€ 5,200', 'default': 'no'}
    """
    return _columns("loans")


def load_chest_pain() -> dict[str, list[str]]:
    """2,500 invented emergency visits for chest pain as the text cells of a CSV file, and `heart_attack`.

    The rows are drawn from rules (docs/case_studies/make_tables.py); nobody's data is in them.

    >>> visits = load_chest_pain()
    >>> len(visits["troponin"]), visits["systolic"][0], visits["heart_attack"].count("yes")
    (2500, '125 mmHg', 184)
    """
    return _columns("chest_pain")


def csv_bytes(name: str) -> bytes:
    """A built-in table as the bytes of a CSV file: "spam", "loans" or "chest_pain"."""
    return gzip.decompress((files(__name__) / f"{name}.csv.gz").read_bytes())


def _columns(name: str) -> dict[str, list[str]]:
    """The columns of a built-in table by name, as text."""
    names, *rows = csv.reader(csv_bytes(name).decode().splitlines())
    return {column: list(cells) for column, cells in zip(names, zip(*rows, strict=True), strict=True)}


def load_spam() -> SpamData:
    """UCI Spambase: 4601 e-mails, 57 columns of numbers, 39 % spam.

    By Hopkins, Reeber, Forman and Suermondt (Hewlett-Packard Labs), CC BY 4.0; `is_test` is the official
    split of "The Elements of Statistical Learning" (3065 rows to learn from, 1536 to test on).

    >>> spam = load_spam()
    >>> spam.data.shape, spam.feature_names[-1], str(spam.target[0]), int(spam.is_test.sum())
    ((4601, 57), 'capitalTotal', 'spam', 1536)
    """
    folder = files(__name__)
    names, *lines = csv_bytes("spam").decode().splitlines()
    cells = [line.rsplit(",", 1) for line in lines]
    return SpamData(
        data=np.loadtxt([numbers for numbers, _ in cells], delimiter=","),
        target=np.array([label for _, label in cells]),
        feature_names=tuple(names.split(",")[:-1]),
        is_test=np.array((folder / "spam.traintest.txt").read_text().split()) == "1",
    )


def __getattr__(name: str) -> Any:
    raise unknown_attribute(__name__, name, [each for each in globals() if each.startswith("load_")])
