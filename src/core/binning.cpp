// Coarse bins from a sample of each column.
#include "binning.hpp"

#include <algorithm>
#include <array>

namespace treewright {

namespace {

constexpr std::size_t sample_rows = 20000;
constexpr std::size_t n_edges = 256;  // padded with +inf, so that the search always takes eight steps
using Edges = std::array<double, n_edges>;

/// Upper edges: a value belongs to the first bin whose edge is not below it.
Edges edges_of(const Column& column, std::size_t n_rows) {
    std::vector<double> sample;
    const std::size_t step = std::max<std::size_t>(1, n_rows / sample_rows);
    for (std::size_t row = 0; row < n_rows; row += step)
        if (const double value = column.value(row); !std::isnan(value)) sample.push_back(value + 0.0);
    std::sort(sample.begin(), sample.end());
    Edges edges;
    edges.fill(std::numeric_limits<double>::infinity());
    std::vector<double> distinct;
    std::unique_copy(sample.begin(), sample.end(), std::back_inserter(distinct));
    constexpr std::size_t n_used = max_bins - 1;
    if (distinct.size() <= n_used) {
        std::copy(distinct.begin(), distinct.end(), edges.begin());
        return edges;
    }
    std::vector<double> quantiles;
    for (std::size_t i = 1; i <= n_used; ++i) quantiles.push_back(sample[i * (sample.size() - 1) / n_used]);
    std::unique_copy(quantiles.begin(), quantiles.end(), edges.begin());
    return edges;
}

std::uint8_t bin_of(const Edges& edges, double value) {
    std::size_t bin = 0;
    // Arithmetic instead of a choice: the compiler must not make a branch of it, which no predictor can
    // guess.
    for (std::size_t step = n_edges / 2; step > 0; step /= 2)
        bin += static_cast<std::size_t>(edges[bin + step - 1] < value) * step;
    return static_cast<std::uint8_t>(bin);
}

/// A block of rows of one column; marks bins in which a value differs from the edge that stands for it.
void fill_block(const Column& column, const Edges& edges, std::size_t begin, std::size_t end,
                std::uint8_t* codes, std::uint8_t* is_mixed) {
    if (column.is_category()) {
        for (std::size_t row = begin; row < end; ++row) {
            const auto code = column.code(row);
            codes[row] = code < 0 ? missing_bin : static_cast<std::uint8_t>(code);
        }
        return;
    }
    with_values(column, [&](auto value) {
        for (std::size_t row = begin; row < end; ++row) {
            const double v = value(row);
            const std::uint8_t bin = v == v ? bin_of(edges, v) : missing_bin;
            codes[row] = bin;
            is_mixed[bin] |= v != edges[bin];
        }
    });
}

}  // namespace

Bins bin_columns(const std::vector<Column>& columns, std::size_t n_rows, Pool& pool, Interrupt& interrupt) {
    Bins bins;
    bins.codes.resize(columns.size() * n_rows);
    bins.is_mixed.assign(columns.size() * 256, 0);
    std::vector<Edges> edges(columns.size());
    pool.run(columns.size(), [&](std::size_t i, std::size_t) {
        interrupt.check();
        if (!columns[i].is_category()) edges[i] = edges_of(columns[i], n_rows);
    });
    // Blocks of rows, so that a table in row order is read through once and not once per column.
    constexpr std::size_t block = 1024;
    const std::size_t n_blocks = (n_rows + block - 1) / block;
    std::vector<std::vector<std::uint8_t>> mixed(pool.size(),
                                                 std::vector<std::uint8_t>(bins.is_mixed.size(), 0));
    pool.run(n_blocks, [&](std::size_t task, std::size_t thread) {
        interrupt.check();
        const std::size_t begin = task * block, end = std::min(n_rows, begin + block);
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (columns[i].n_categories <= max_bins)
                fill_block(columns[i], edges[i], begin, end, bins.codes.data() + i * n_rows,
                           mixed[thread].data() + i * 256);
    });
    for (const auto& part : mixed)
        for (std::size_t i = 0; i < part.size(); ++i) bins.is_mixed[i] |= part[i];
    return bins;
}

}  // namespace treewright
