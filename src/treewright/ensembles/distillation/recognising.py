"""Whether rows to judge by are rows of the data after all."""

from __future__ import annotations

import numpy as np

from treewright.encoding import Dataset
from treewright.encoding.row_hashes import row_hashes

_ACCIDENT = 1e-6  # a chance that nobody has to reckon with


def refuse_rows_of_the_data(validation: Dataset, data: Dataset) -> None:
    """ValueError if the validation rows are those of the data, in any order, or some of them.

    Equal rows need not be the same: a table of a few categories has no others. So rows that all occur in the
    data are refused only where new ones would be expected. Of rows drawn like the data, about as large a
    share is new as the share of the data that occurs once (Good and Turing).
    """
    with_target = data.targets is not None and validation.targets is not None
    own, given = (
        row_hashes(rows.take(rows.counted), with_targets=with_target) for rows in (data, validation)
    )
    seen, count = np.unique(own, return_counts=True)
    if not np.isin(given, seen).all():
        return
    familiar = 1 - float((count == 1).sum()) / len(own)
    if familiar ** len(given) < _ACCIDENT or np.array_equal(np.sort(own), np.sort(given)):
        raise ValueError(
            f"all {len(given):,} rows of validation occur in data; give rows that were never used, or none, "
            "so that some of the data are set aside"
        )
