// The rows from which the edges of bins are estimated.
#pragma once

#include <cstddef>
#include <vector>

#include "boosting/losses.hpp"
#include "data/columns.hpp"
#include "support/threads.hpp"

namespace treewright::boosting {

/// The rows of a table that are meant.
struct Chosen {
    const Row* rows;
    std::size_t n;
    Repeats repeats;

    std::size_t operator[](std::size_t i) const { return rows ? rows[i] : i; }
    /// How many rows the i-th one stands for.
    std::size_t count(std::size_t i) const {
        return repeats ? static_cast<std::size_t>(repeats.weight[i]) : 1;
    }
    std::size_t n_repeated() const { return repeats ? repeats.n_rows : n; }
};

/// Places of at least 20,000 of the chosen rows, with repetitions; of all of them where there are fewer than
/// twice as many.
///
/// They depend on the rows of the table but not on their order: in the order of hashes, every so-manieth is
/// taken, so that of many equal rows there is a fair share. Hashes are of a few columns, and of all columns
/// only where rows agree in these: most of a large table is not read.
struct EdgeSample {
    std::vector<Row> rows;
    bool is_whole = true;  // all rows are in it

    EdgeSample(const std::vector<Column>& columns, const Chosen& chosen, Pool& pool, Interrupt& interrupt);
};

}  // namespace treewright::boosting
