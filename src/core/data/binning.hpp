// Two bytes per cell: the bin and the place in it. Bin edges never change a tree, only the time it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "data/columns.hpp"
#include "support/threads.hpp"
#include "support/unfilled.hpp"

namespace treewright {

struct Bins {
    UnfilledVector<FineBin> fine;        // row by row
    std::vector<std::uint8_t> is_mixed;  // 256 per column: the bin holds more than one value
};

/// Numbers: about equally many rows per bin, one bin per value where there are few values. Categories: their
/// codes, where 255 are enough for them.
Bins bin_columns(const std::vector<Column>& columns, std::size_t n_rows, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
