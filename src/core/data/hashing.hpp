// Rows as numbers, by which they are known again without being kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "support/threads.hpp"

namespace treewright {

/// A number for each row: equal for equal rows, and as good as never for others. All missing values are
/// alike, and so are the two zeros and numbers of different precision that are equal.
std::vector<std::uint64_t> hash_rows(std::span<const Column> columns, std::size_t n_rows, Pool& pool,
                                     Interrupt& interrupt);

}  // namespace treewright
