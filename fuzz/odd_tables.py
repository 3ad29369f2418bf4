"""Random tables as strangers bring them: every library, odd types, values and names, lengths that differ."""

from __future__ import annotations

import array
import datetime
import decimal
import enum
import fractions
import random
from collections import OrderedDict, UserList, deque
from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.compute
from scipy import sparse

NEW_YORK = datetime.timezone(datetime.timedelta(hours=-5))


class Shouting(str):
    """A str whose text is not what it says of itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "LOUD"


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


POOLS: dict[str, list[Any]] = {
    "small": [0, 1, 2, 3, -1],
    "whole": [0, 1, 2**24 + 1, 2**31, -(2**31), 2**53, -(2**53)],
    "huge": [2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30, -(10**400)],
    "float": [0.0, -0.0, 1.5, -2.25, 1e308, -1.7e308, 5e-324, 1e-310, 3.0],
    "special": [float("inf"), float("-inf"), float("nan"), 1.0],
    "numpy": [np.float32(0.1), np.float16(2), np.int8(-3), np.uint64(7), np.longdouble(0.5), np.float64(2.5)],
    "text": ["a", "b", "c", "", " ", "nan", "None", "1", "NULL"],
    "wild text": [
        "\x00",
        "\ud800",
        "é",
        "e\u0301",
        "\u202eabc",
        "😀",
        "x" * 5000,
        "'\"<>&;--",
        "\n\r\t",
        "٣",
    ],
    "numbers as text": [
        "1",
        "-2.5",
        "1,234.5",
        "1.234",
        "7 %",
        "$3",
        "(4)",
        "1e5",
        "1e999",
        "12k",
        "007",
        "n/a",
    ],
    "one unit": ["1 kg", "2,5 kg", "3 KG", "?", "12\u00a0000 kg", "9" * 20 + " kg", "inf"],
    "dates as text": ["03/04/2021", "25/12/2020", "12/25/2020", "2021-02-30", "2021-01-01", "1.2.03", "NaT"],
    "moments as text": [
        "2021-01-01T10:00Z",
        "2021-01-01 10:00:00.5",
        "9999-12-31 23:59:59.999999",
        "0001-01-01",
    ],
    "truths as text": ["TRUE", "yes", "ja", "nein", "F", " no ", "-"],
    "odd text": [np.str_("s"), Shouting("quiet"), "s"],
    "bool": [True, False],
    "numpy bool": [np.True_, np.False_, True],
    "missing": [None, float("nan"), pandas.NA, pandas.NaT, np.datetime64("NaT"), np.ma.masked],
    "decimal": [
        decimal.Decimal(text) for text in ("1.1", "-0", "1e400", "NaN", "Infinity", "9007199254740993")
    ]
    + [fractions.Fraction(1, 3)],
    "signalling": [decimal.Decimal("sNaN"), decimal.Decimal(2)],
    "time": [
        datetime.datetime(2020, 1, 1),
        datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
        datetime.date(1, 1, 1),
    ],
    "zoned": [
        datetime.datetime(2020, 6, 1, tzinfo=datetime.UTC),
        datetime.datetime(2021, 1, 1, tzinfo=NEW_YORK),
    ],
    "clock": [datetime.time(12, 30), datetime.time(0)],
    "duration": [datetime.timedelta(1), datetime.timedelta.max, datetime.timedelta(microseconds=-1)],
    "numpy time": [np.datetime64("2020-01-01"), np.datetime64("2021", "Y"), np.datetime64(2**62, "us")],
    "numpy duration": [
        np.timedelta64(1, "D"),
        np.timedelta64(5, "ns"),
        np.timedelta64(3, "M"),
        np.timedelta64(4),
    ],
    "stamp": [pandas.Timestamp("2020-01-01"), pandas.Timestamp(1), pandas.Timestamp("2020", tz="UTC")],
    "span": [
        pandas.Timedelta(1, "D"),
        pandas.Timedelta(1, "ns"),
        pandas.Period("2020-01"),
        pandas.Interval(0, 1),
    ],
    "complex": [1j, np.complex64(1), 0j],
    "bytes": [b"a", b"\xff", np.bytes_(b"z"), bytearray(b"q")],
    "enum": [Level.LOW, Level.HIGH, 3],
    "nested": [[1, 2], (1,), {"a": 1}, {1, 2}, [], np.zeros(2), np.array(3.0), range(2)],
    "objects": [object, object(), Colour.RED, Ellipsis, len, SimpleNamespace(a=1)],
}
PLAIN = ["small", "float", "text", "bool", "special", "whole"]
PLAIN += ["numbers as text", "one unit", "dates as text", "moments as text", "truths as text"]
NAMES: list[Any] = [
    "a",
    "b",
    "x0",
    "x1",
    "y",
    "",
    " ",
    "a\x00",
    "a b",
    "é",
    "\ud800",
    "<script>",
    "'; DROP",
    "n" * 3000,
    "\n",
    0,
    1,
    -1,
    1.5,
    None,
    float("nan"),
    True,
    (1, 2),
    ("a", "b"),
    b"a",
    datetime.date(2020, 1, 1),
    Colour.RED,
]


def values(random: random.Random, n: int) -> list[Any]:
    """The cells of one column: mostly of one pool, some missing, sometimes a stranger among them."""
    name = random.choice(PLAIN) if random.random() < 0.85 else random.choice(sorted(POOLS))
    pool = random.sample(POOLS[name], random.randint(1, len(POOLS[name])))
    cells = [random.choice(pool) for _ in range(n)]
    for _ in range(random.choice([0, 0, 0, 1, 2, n]) if n else 0):
        cells[random.randrange(n)] = random.choice(POOLS["missing"])
    if n and random.random() < 0.03:
        cells[random.randrange(n)] = random.choice(POOLS[random.choice(sorted(POOLS))])
    return cells


DTYPES = [
    "f2",
    "f4",
    "f8",
    "g",
    ">f8",
    ">f4",
    "<f8",
    "i1",
    "i2",
    "i4",
    "i8",
    ">i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "?",
    "c8",
    "U3",
    ">U2",
    "S3",
    "O",
    "M8[D]",
    "M8[ns]",
    "M8[us]",
    "M8[Y]",
    "M8[s]",
    ">M8[ms]",
    "M8[as]",
    "M8",
    "m8[s]",
    "m8[Y]",
    "m8[ns]",
    "V4",
    "i4,f8",
]


def numpy_array(random: random.Random, *shape: int) -> Any:
    """An array of any type, with bits that any value of it may have, in any layout."""
    dtype = np.dtype(random.choice(DTYPES[:17] if random.random() < 0.7 else DTYPES))
    size = int(np.prod(shape))
    if dtype.kind == "O":
        out = np.empty(size, object)
        out[:] = values(random, size)
    elif dtype.kind == "U":
        out = np.array([random.choice(["a", "bc", "", "é"]) for _ in range(size)]).astype(dtype)
    elif random.random() < 0.2 and dtype.kind not in "g":
        out = np.frombuffer(random.randbytes(size * dtype.itemsize), dtype) if size else np.zeros(0, dtype)
        out = out.astype(bool) if dtype.kind == "b" else out
    else:
        out = np.array([random.randint(0, 5) for _ in range(size)], "i1").astype(dtype)
    out = out.reshape(shape)
    layout = random.choice(
        ["plain", "plain", "strided", "reversed", "frozen", "F", "masked", "broadcast", "unaligned"]
    )
    if layout == "strided":
        out = np.repeat(out, 2, axis=0)[::2]
    elif layout == "reversed":
        out = out[::-1]
    elif layout == "frozen":
        out = out.copy()
        out.flags.writeable = False
    elif layout == "F":
        out = np.asfortranarray(out)
    elif layout == "masked" and dtype.names is None:
        mask = np.array([random.random() < 0.3 for _ in range(size)], bool).reshape(shape)
        out = np.ma.array(out, mask=mask)
    elif layout == "broadcast" and size:
        out = np.broadcast_to(out[:1], shape)
    elif layout == "unaligned" and size and dtype.kind not in "O":
        raw = np.zeros(out.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(out.tobytes(), np.uint8)
        out = raw[1:].view(dtype).reshape(shape)
    return out


def pandas_column(random: random.Random, n: int) -> Any:
    cells = values(random, n)
    kind = random.choice(
        [
            "object",
            "Int64",
            "UInt8",
            "Float64",
            "boolean",
            "string",
            "category",
            "string[pyarrow]",
            None,
            "Sparse[float]",
            "datetime64[ns, UTC]",
            "datetime64[s]",
            "period[M]",
            "interval",
            "double[pyarrow]",
            "int64[pyarrow]",
        ]
    )
    if kind == "interval":
        return pandas.Series(pandas.cut(pandas.Series([random.random() for _ in range(n)], dtype=float), 2))
    return pandas.Series(tame(cells) if "pyarrow" in str(kind) else cells, dtype=kind)


def tame(cells: list[Any]) -> list[Any]:
    """Without the scalars of numpy: pyarrow crashes on some lists of them."""
    return [None if isinstance(cell, np.generic | np.ndarray) else cell for cell in cells]


def polars_column(random: random.Random, n: int) -> Any:
    kind = random.choice(
        [
            None,
            None,
            polars.Object,
            polars.Categorical,
            polars.Int128,
            polars.Decimal(20, 3),
            polars.Float32,
            polars.Date,
            polars.Time,
            polars.Duration("ns"),
            polars.Datetime("ns", "UTC"),
            polars.Binary,
            polars.List(polars.Int8),
            polars.Enum(["a", "b", "c"]),
            polars.Null,
            polars.UInt8,
            polars.Boolean,
            polars.String,
        ]
    )
    cells = [
        None if isinstance(cell, decimal.Decimal) and not cell.is_finite() else cell
        for cell in values(random, n)
    ]  # polars panics at others
    return polars.Series("c", cells, dtype=kind, strict=False)


def arrow_column(random: random.Random, n: int) -> Any:
    cells = tame(values(random, n))
    kind = random.choice(
        ["plain", "plain", "dictionary", "chunked", "decimal", "runs", "half", "union of nothing"]
    )
    if kind == "dictionary":
        codes = pyarrow.array([random.choice([0, 1, 2, None]) for _ in range(n)], pyarrow.int8())
        labels = random.choice(
            [["a", "b", "c"], ["a", "a", None], [1, 2, 3], [1.5, None, 1.5], [True, False, None]]
        )
        return pyarrow.DictionaryArray.from_arrays(
            codes, pyarrow.array(labels), ordered=random.random() < 0.3
        )
    if kind == "decimal":
        return pyarrow.array(
            [decimal.Decimal(random.randint(-9, 9)) for _ in range(n)], pyarrow.decimal128(30, 5)
        )
    if kind == "half":
        return pyarrow.array(np.arange(n, dtype=np.float16))
    if kind == "union of nothing":
        return pyarrow.nulls(n)
    if kind == "runs":  # pyarrow itself crashes on the runs of some types
        return pyarrow.compute.run_end_encode(
            pyarrow.array([k // 2 / 2 for k in range(n)], pyarrow.float64())
        )
    made = pyarrow.array(cells)
    if kind == "chunked":
        return pyarrow.chunked_array([made.slice(0, n // 2), made.slice(n // 2)])
    return made


def column(random: random.Random, n: int) -> Any:
    """One column of any library."""
    choices: list[Callable[[], Any]] = [
        lambda: values(random, n),
        lambda: values(random, n),
        lambda: values(random, n),
        lambda: tuple(values(random, n)),
        lambda: numpy_array(random, n),
        lambda: numpy_array(random, n),
        lambda: pandas_column(random, n),
        lambda: polars_column(random, n),
        lambda: arrow_column(random, n),
    ]
    odd: list[Callable[[], Any]] = [
        lambda: deque(values(random, n)),
        lambda: UserList(values(random, n)),
        lambda: range(n),
        lambda: array.array("d", [0.5] * n),
        lambda: memoryview(np.arange(float(n))),
        lambda: pandas.array(values(random, n)),
        lambda: pandas.Index(values(random, n)),
        lambda: numpy_array(random, n, 1),
        lambda: np.array(1.0),
        lambda: pandas.MultiIndex.from_arrays([range(n), range(n)]),
        lambda: "text of n",
        lambda: b"x" * n,
        lambda: None,
        lambda: dict.fromkeys(range(n)),
        lambda: {"a": values(random, n)},
    ]
    return random.choice(odd if random.random() < 0.05 else choices)()


def names(random: random.Random, count: int) -> list[Any]:
    if random.random() < 0.5:
        return [f"c{k}" for k in range(count)]
    return [random.choice(NAMES) for _ in range(count)]


def length(random: random.Random, n: int) -> int:
    """Mostly the right one."""
    return n if random.random() < 0.98 else max(0, n + random.choice([-1, 1, 5]))


def sparse_matrix(random: random.Random, n: int, d: int) -> Any:
    cells = np.random.default_rng(random.getrandbits(32)).integers(0, 3, (n, d))
    kind = random.choice([float, np.float32, np.int8, np.int64, np.uint64, bool, np.longdouble, complex])
    table = sparse.coo_array(cells.astype(kind)).asformat(
        random.choice(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    )
    if random.random() < 0.4:
        for part in ("indices", "indptr", "row", "col", "offsets"):
            index = getattr(table, part, None)
            if isinstance(index, np.ndarray) and index.size and random.random() < 0.5:
                try:
                    index[random.randrange(index.size)] = random.choice([-1, d, n, 10**6, -(10**6)])
                except ValueError:  # scipy keeps some of them read-only
                    continue
    if table.data.size and random.random() < 0.2 and isinstance(table.data, np.ndarray):
        table.data = table.data[:-1]
    return table


def table(random: random.Random, n: int) -> Any:
    """A table of any library (or what claims to be one)."""
    d = random.choice([0, 1, 1, 2, 2, 3, 4])
    kind = random.choice(
        ["dict"] * 4
        + [
            "pandas",
            "pandas",
            "polars",
            "arrow",
            "rows",
            "records",
            "array",
            "array",
            "sparse",
            "record array",
            "mapping",
            "rows of arrays",
            "nothing",
            "pandas of values",
            "stranger",
        ]
    )
    columns = [column(random, length(random, n)) for _ in range(d)]
    titles = names(random, d)
    match kind:
        case "dict" | "mapping":
            made = OrderedDict(zip(titles, columns, strict=True))
            return dict(made) if kind == "dict" else random.choice([made, MappingProxyType(made)])
        case "pandas":
            series = [pandas.Series(c) if not isinstance(c, pandas.Series) else c for c in columns]
            frame = pandas.concat(series, axis=1) if series else pandas.DataFrame(index=range(n))
            frame.columns = titles
            return frame
        case "pandas of values":
            frame = pandas.DataFrame({k: values(random, n) for k in range(d)})
            frame.columns = titles
            return frame
        case "polars":
            made = polars.DataFrame([polars_column(random, n).alias(f"c{k}") for k in range(d)])
            return made.lazy() if random.random() < 0.2 else made
        case "arrow":
            made = pyarrow.table([arrow_column(random, n) for _ in range(d)], names=list(map(str, titles)))
            return random.choice([made, made.slice(0, n // 2)])
        case "rows":
            return [values(random, length(random, d)) for _ in range(n)]
        case "records":
            return [dict(zip(titles, values(random, d), strict=False)) for _ in range(n)]
        case "array":
            return numpy_array(random, *random.choice([(n, d)] * 8 + [(n,), (n, d, 1), ()]))
        case "sparse":
            return sparse_matrix(random, n, d)
        case "record array":
            return np.zeros(n, dtype=[(f"f{k}", random.choice(DTYPES[:-2])) for k in range(d)])
        case "rows of arrays":
            return [numpy_array(random, d) for _ in range(n)]
        case "stranger":
            return SimpleNamespace(__len__=lambda: n, columns=["a"])
        case _:
            return random.choice(
                [None, 7, "table", b"", [], {}, [[]], [{}], (), set(), iter([]), np.float64(1), [None] * n]
            )
