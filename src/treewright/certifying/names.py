"""A prefix code of sets of categories, by their names: it was fixed before any table was seen.

A set is how many names it has, and then the names: their bytes in UTF-8, after how many these are; a bool is
one bit. A list of the categories that occur in the rows would be shorter to refer to, but it is made of the
rows: a tree could learn a thousand customers by heart at one bit each, and err on all others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from treewright.certifying.decimals import Reader, read_whole, whole_bits, write_whole

_FREE_COUNT, _FREE_LENGTH = 1, 2  # `k` of the exponential Golomb codes: a name or none, short names


def _bytes(name: Hashable) -> bytes:
    return str(name).encode("utf-8", "surrogatepass")


def name_bits(name: Hashable) -> int:
    """The length of one name.

    >>> name_bits("y"), name_bits("clerk"), name_bits(17), name_bits(True)
    (11, 45, 19, 1)
    """
    if isinstance(name, bool):
        return 1
    length = len(_bytes(name))
    return whole_bits(length + 1, _FREE_LENGTH) + 8 * length


def count_bits(count: int) -> int:
    """The length of what says how many names there are.

    >>> count_bits(1), count_bits(5)
    (2, 4)
    """
    return whole_bits(count + 1, _FREE_COUNT)


def write_names(names: Iterable[Hashable]) -> str:
    """The word of a set of names.

    >>> write_names(["y"])
    '1110101111001'
    """
    listed = list(names)
    words = [write_whole(len(listed) + 1, _FREE_COUNT)]
    for name in listed:
        if isinstance(name, bool):
            words.append("01"[name])
            continue
        text = _bytes(name)
        words += [write_whole(len(text) + 1, _FREE_LENGTH), *(f"{byte:08b}" for byte in text)]
    return "".join(words)


def read_names(reader: Reader, are_bools: bool) -> list[str]:
    """The names that `write_names` wrote, as texts.

    >>> read_names(Reader("1110101111001"), are_bools=False)
    ['y']
    """
    names = []
    for _ in range(read_whole(reader, _FREE_COUNT) - 1):
        if are_bools:
            names.append(str(bool(reader.take(1))))
            continue
        length = read_whole(reader, _FREE_LENGTH) - 1
        text = bytes(reader.take(8) for _ in range(length))
        names.append(text.decode("utf-8", "surrogatepass"))
    return names
