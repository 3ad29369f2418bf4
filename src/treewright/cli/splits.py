"""Which rows grow the tree, which prune it and which test it: no row does two of these."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from treewright.cli.errors import Misuse, count
from treewright.encoding import Dataset
from treewright.encoding.row_hashes import KnownRows
from treewright.encoding.splits import split
from treewright.selecting.planning import VALIDATION_SHARE, Plan

TEST_SHARE = 0.2  # of all rows
FEWEST_ROWS = 25  # of a table from which rows are set aside without being asked for


@dataclass(frozen=True)
class Wish:
    """What --test or --validation says: a share of the rows, or a file; neither if nothing is said."""

    option: str
    share: float | None = None
    file: str | None = None

    @staticmethod
    def of(option: str, text: str | None) -> Wish:
        """The wish that the text of an option is."""
        if text is None:
            return Wish(option)
        try:
            share = float(text)
        except ValueError:
            return Wish(option, file=text)
        if not 0 <= share < 1:
            raise Misuse(f"{option} {text}: a share of the rows is at least 0 and less than 1, such as 0.2")
        return Wish(option, share)

    @property
    def is_said(self) -> bool:
        """Whether the user has said anything."""
        return self.share is not None or self.file is not None


@dataclass(frozen=True)
class Parts:
    """The rows by what they are for."""

    training: Dataset
    validation: Dataset | None = None
    test: Dataset | None = None


def check_wishes(validation: Wish, plan: Plan | None) -> None:
    """Misuse about rows to validate by that nothing would look at, or that are lacking."""
    if plan is not None and plan.needs_validation:
        if validation.share == 0:
            other = "; --select folds needs none" if plan.by == "held_out" else ""
            raise Misuse(
                f"--validation 0: --prune {plan.method} takes rows that the tree is not grown from{other}"
            )
    elif validation.share or validation.file is not None:
        what = "without pruning" if plan is None else f"--prune {plan.method}"
        chosen = "" if plan is None or plan.by is None else f" --select {plan.by}"
        raise Misuse(f"--validation: {what}{chosen} looks at no such rows; leave it out")


def check_files(data: str | os.PathLike[str], wishes: Iterable[Wish]) -> None:
    """Misuse about a file that is named for two things."""
    seen = [("the table itself", os.fspath(data))]
    for wish in wishes:
        if wish.file is None or not os.path.exists(wish.file):
            continue
        for other, path in seen:
            if os.path.exists(path) and os.path.samefile(path, wish.file):
                raise Misuse(
                    f"{wish.option} {wish.file} is {other}; a row grows the tree, prunes it or tests it"
                )
        seen.append((f"the file of {wish.option}", wish.file))


def refuse_same_rows(data: Dataset, from_files: dict[str, Dataset], wishes: Iterable[Wish]) -> None:
    """Misuse about files of which too many rows are in another one to be an accident."""
    seen = [("the table", KnownRows.of(data))]
    for wish in wishes:
        rows = from_files.get(wish.option)
        if rows is None:
            continue
        for other, known in seen:
            if known.are_in(rows):
                raise Misuse(
                    f"{wish.option} {wish.file}: its rows, or too many of them to be an accident, are in "
                    f"{other} as well; a row grows the tree, prunes it or tests it"
                )
        seen.append((f"the file of {wish.option}", KnownRows.of(rows)))


def is_small(data: Dataset) -> bool:
    """Whether a table is so small that no rows are set aside without being asked for."""
    return data.n_counted < FEWEST_ROWS


def dealt(
    data: Dataset,
    plan: Plan | None,
    test: Wish,
    validation: Wish,
    seed: int,
    from_files: dict[str, Dataset],
) -> Parts:
    """The rows of a table by what they are for: first those to test, of the others those to validate.

    `from_files` has the rows of the files that are named instead, by option.
    """
    tested = from_files.get(test.option)
    share = TEST_SHARE if test.share is None and not is_small(data) else test.share
    if tested is None and share:
        _check_splittable(data, test.option)
        data, tested = split(data, (1 - share, share), seed)
    validated = from_files.get(validation.option)
    if plan is not None:
        if plan.needs_validation and validated is None:
            _check_splittable(data, validation.option)
        data, validated = plan.split_rows(data, validated, validation.share or VALIDATION_SHARE, seed)
    return Parts(data, validated, tested)


def _check_splittable(data: Dataset, option: str) -> None:
    if (rows := data.n_counted) < 2:
        raise Misuse(f"{option}: of {count(rows, 'row')} none can be set aside")
