"""Which rows grow the tree, which prune it and which test it: no row does two of these."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from treewright.cli.errors import Misuse, count
from treewright.encoding import Dataset
from treewright.encoding.row_hashes import KnownRows
from treewright.encoding.splits import split
from treewright.selecting.planning import VALIDATION_SHARE, Plan

TEST_SHARE = 0.2  # of all rows
FEWEST_ROWS = 25  # of a table from which rows are set aside by default
_ONE_ROLE = "a row grows the tree, prunes it or tests it"


@dataclass(frozen=True)
class RowsOption:
    """The rows of --test or --validation, a file, or a share of the table; neither without the options."""

    option: str
    share: float | None = None
    file: str | None = None

    @staticmethod
    def of(option: str, file: str | None, of_share: str, share: float | None) -> RowsOption:
        """The values of the option of a file, and of the one of a share."""
        if file is not None and share is not None:
            raise Misuse(
                f"{option} {file} and {of_share} {share:g} are two sets of rows; leave one of them out"
            )
        if share is not None and not 0 <= share < 1:
            raise Misuse(
                f"{of_share} {share:g}: a share of the rows is at least 0 and less than 1, such as 0.2"
            )
        if file is not None and not os.path.exists(file):
            try:
                float(file)
            except ValueError:
                pass
            else:
                raise Misuse(
                    f"{option} {file}: there is no such file; a share of the rows is {of_share} {file}"
                )
        return RowsOption(option, share, file)

    @property
    def is_set(self) -> bool:
        """Whether the user has set the option."""
        return self.share is not None or self.file is not None


@dataclass(frozen=True)
class Parts:
    """The rows by what they are for."""

    training: Dataset
    validation: Dataset | None = None
    test: Dataset | None = None


def check_validation(validation: RowsOption, plan: Plan | None) -> None:
    """Misuse about validation rows that the pruning does not use, or needs and lacks."""
    if plan is not None and plan.needs_validation:
        if validation.share == 0:
            other = "; --select folds needs none" if plan.by == "held_out" else ""
            raise Misuse(
                f"--validation-fraction 0: --prune {plan.method} takes rows that the tree is not grown "
                f"from{other}"
            )
    elif validation.share or validation.file is not None:
        what = "without pruning" if plan is None else f"--prune {plan.method}"
        by = "" if plan is None or plan.by is None else f" --select {plan.by}"
        option = "--validation" if validation.share is None else "--validation-fraction"
        raise Misuse(f"{option}: {what}{by} uses no such rows; leave it out")


def check_files(data: str | os.PathLike[str], options: Iterable[RowsOption]) -> None:
    """Misuse about a file that is named for two things."""
    files = [("the table itself", "", os.fspath(data))]
    files += [(f"the file of {each.option}", each.option, each.file) for each in options if each.file]
    existing = [each for each in files if os.path.exists(each[2])]
    for (role, _, first), (_, option, second) in combinations(existing, 2):
        if os.path.samefile(first, second):
            raise Misuse(f"{option} {second} is {role}; {_ONE_ROLE}")


def refuse_same_rows(data: Dataset, from_files: dict[str, Dataset], options: Iterable[RowsOption]) -> None:
    """Misuse about files of which too many rows are in another one to be an accident."""
    roles = [("the table", KnownRows.of(data))]
    for each in options:
        rows = from_files.get(each.option)
        if rows is None:
            continue
        for role, known in roles:
            if known.are_in(rows):
                raise Misuse(
                    f"{each.option} {each.file}: its rows, or too many of them to be an accident, are in "
                    f"{role} as well; {_ONE_ROLE}"
                )
        roles.append((f"the file of {each.option}", KnownRows.of(rows)))


def is_small(data: Dataset) -> bool:
    """Whether a table is so small that no rows are set aside by default."""
    return data.n_counted < FEWEST_ROWS


def split_rows(
    data: Dataset,
    plan: Plan | None,
    test: RowsOption,
    validation: RowsOption,
    seed: int,
    from_files: dict[str, Dataset],
) -> Parts:
    """The rows of a table by what they are for: first the test rows, of the others the validation rows.

    `from_files` has the rows of the files that are named instead, by option.
    """
    test_rows = from_files.get(test.option)
    share = TEST_SHARE if test.share is None and not is_small(data) else test.share
    if test_rows is None and share:
        _check_splittable(data, "--test-size")
        data, test_rows = split(data, (1 - share, share), seed)
    validation_rows = from_files.get(validation.option)
    if plan is not None:
        if plan.needs_validation and validation_rows is None:
            _check_splittable(data, "--validation-fraction")
        data, validation_rows = plan.split_rows(
            data, validation_rows, validation.share or VALIDATION_SHARE, seed
        )
    return Parts(data, validation_rows, test_rows)


def _check_splittable(data: Dataset, option: str) -> None:
    if (rows := data.n_counted) < 2:
        raise Misuse(f"{option}: of {count(rows, 'row')} none can be set aside")
