// One byte per cell: the coarse bins of the encoding. Bin edges never change a tree, only the time it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.hpp"
#include "threads.hpp"

namespace treewright {

struct Bins {
    std::vector<std::uint8_t> codes;     // column by column
    std::vector<std::uint8_t> is_mixed;  // 256 per column: the bin holds more than one value
};

/// Numbers: about equally many rows per bin, one bin per value where there are few values. Categories: their
/// codes, where 255 are enough for them. The byte 255 means missing.
Bins bin_columns(const std::vector<Column>& columns, std::size_t n_rows, Pool& pool, Interrupt& interrupt);

}  // namespace treewright
