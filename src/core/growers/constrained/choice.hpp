// Which columns a node may test, and which of their cuts it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "growers/constrained/cut.hpp"

namespace treewright::constrained {

/// The distinct columns tested above a node, ascending.
using Path = std::vector<std::int32_t>;

/// The rules that depend on the columns tested before.
class ColumnRules {
  public:
    ColumnRules(const Options& options, std::size_t n_columns);

    /// Whether the columns of a path matter at all; otherwise nobody needs to note them.
    bool need_paths() const { return options_.has_groups || options_.once || !options_.prices.empty(); }
    Path extended(const Path& path, std::int32_t column) const;
    /// Those of some columns that a node at the end of this path may test, in their order.
    std::vector<std::int32_t> allowed(const std::vector<std::int32_t>& columns, const Path& path) const;
    double price(std::int32_t column, const Path& path) const;

    /// Notes that the tree tests a column; true where no further column may be used from now on.
    bool use(std::int32_t column);

  private:
    bool is_full() const { return options_.max_columns_used >= 0 && n_used_ >= options_.max_columns_used; }

    const Options& options_;
    std::vector<std::vector<std::int32_t>> groups_;  // with columns of no group as groups of their own
    std::vector<std::uint8_t> is_used_;
    std::int64_t n_used_ = 0;
};

/// The best of the cuts of a node's columns, in the order of the columns; one without a column if there is
/// none. `weight` is that of the node.
Cut choose_cut(const Task& task, std::vector<Cut>&& cuts, double weight);

}  // namespace treewright::constrained
