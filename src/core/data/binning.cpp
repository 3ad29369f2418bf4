// Coarse bins from a sample of each column.
#include "data/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

namespace treewright {

namespace {

constexpr std::size_t least_sample = 1024, most_sample = 4096;

/// The bins of one column.
class Edges {
  public:
    Edges() = default;
    /// From a sorted sample of the column and the upper edges that are used.
    Edges(const std::vector<double>& sample, const std::vector<double>& used) {
        upper_.fill(std::numeric_limits<double>::infinity());
        std::copy(used.begin(), used.end(), upper_.begin());
        for (std::size_t bin = 0; bin < n_bins && !sample.empty(); ++bin) {
            if (bin > used.size()) break;
            lower_[bin] = bin == 0 ? sample.front() : used[bin - 1];
            const double end = bin == used.size() ? sample.back() : used[bin];
            if (end > lower_[bin]) scale_[bin] = 256 / (end - lower_[bin]);
        }
        lay_grid(used);
    }

    /// The first bin whose edge is not below the value, and the value's place in it.
    FineBin fine_bin(double value) const {
        std::size_t bin = start_[cell_of(value)];
        // Arithmetic instead of a choice: the compiler must not make a branch of it, which no predictor can
        // guess.
        for (std::size_t step = first_step_; step > 0; step /= 2)
            bin += static_cast<std::size_t>(upper_[bin + step - 1] < value) * step;
        // The place grows with the value, whatever the rounding; what is not a number (inf − inf) comes
        // first.
        const double place = (value - lower_[bin]) * scale_[bin];
        return static_cast<FineBin>(bin << 8 |
                                    static_cast<std::size_t>(place >= 0 ? std::min(place, 255.0) : 0.0));
    }
    /// Whether a value is the one that stands for its bin.
    bool is_edge(double value, FineBin fine) const {
        return value == upper_[static_cast<std::size_t>(bin_of(fine))];
    }

  private:
    static constexpr std::size_t n_bins = 256, n_cells = 1024;

    /// A grid of equal cells over the edges: a value needs to be compared with the edges of its cell only.
    void lay_grid(const std::vector<double>& used) {
        if (used.empty()) return;
        const double span = used.back() - used.front();
        grid_start_ = used.front();
        grid_scale_ = span > 0 && std::isfinite(n_cells / span) && std::isfinite(span) ? n_cells / span : 0;
        std::array<std::size_t, n_cells> n_edges{};
        for (const double edge : used) ++n_edges[cell_of(edge)];
        std::size_t before = 0, most = 0;
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            start_[cell] = static_cast<std::uint16_t>(before);
            before += n_edges[cell];
            most = std::max(most, n_edges[cell]);
        }
        first_step_ = std::bit_floor(most);
    }
    std::size_t cell_of(double value) const {
        const double cell = (value - grid_start_) * grid_scale_;
        return static_cast<std::size_t>(cell > 0 ? std::min(cell, n_cells - 1.0) : 0.0);
    }

    std::array<double, 2 * n_bins> upper_;        // beyond those used +inf, so that the search may look ahead
    std::array<double, n_bins> lower_{};          // where each bin begins, to measure places from
    std::array<double, n_bins> scale_{};          // places per unit
    std::array<std::uint16_t, n_cells> start_{};  // how many edges lie in the cells before
    double grid_start_ = 0, grid_scale_ = 0;
    std::size_t first_step_ = 0;
};

std::vector<double> sorted_sample(const Column& column, std::size_t n_rows) {
    std::vector<double> sample;
    const std::size_t step =
        std::max<std::size_t>(1, n_rows / std::clamp(n_rows / 8, least_sample, most_sample));
    for (std::size_t row = 0; row < n_rows; row += step)
        if (const double value = column.value(row); !std::isnan(value)) sample.push_back(value + 0.0);
    std::sort(sample.begin(), sample.end());
    return sample;
}

/// An edge per value where there are few, else quantiles.
std::vector<double> upper_edges(const std::vector<double>& sample) {
    constexpr std::size_t n_used = max_bins - 1;
    std::vector<double> edges;
    std::unique_copy(sample.begin(), sample.end(), std::back_inserter(edges));
    if (edges.size() <= n_used) return edges;
    edges.clear();
    for (std::size_t i = 1; i <= n_used; ++i) edges.push_back(sample[i * (sample.size() - 1) / n_used]);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

Edges edges_of(const Column& column, std::size_t n_rows) {
    const auto sample = sorted_sample(column, n_rows);
    return {sample, upper_edges(sample)};
}

/// A block of rows of one column, zeros where it has no bins; marks bins in which a value differs from the
/// edge that stands for it.
void fill_block(const Column& column, const Edges& edges, std::size_t begin, std::size_t end, FineBin* fine,
                std::size_t stride, std::uint8_t* is_mixed) {
    if (column.n_categories > max_bins) {
        for (std::size_t row = begin; row < end; ++row) fine[row * stride] = 0;
        return;
    }
    if (column.is_category()) {
        for (std::size_t row = begin; row < end; ++row) {
            const auto code = column.code(row);
            fine[row * stride] = code < 0 ? missing_fine_bin : static_cast<FineBin>(code << 8);
        }
        return;
    }
    with_values(column, [&](auto value) {
        for (std::size_t row = begin; row < end; ++row) {
            const double v = value(row);
            const FineBin bin = v == v ? edges.fine_bin(v) : missing_fine_bin;
            fine[row * stride] = bin;
            is_mixed[bin_of(bin)] |= !edges.is_edge(v, bin);
        }
    });
}

}  // namespace

Bins bin_columns(const std::vector<Column>& columns, std::size_t n_rows, Pool& pool, Interrupt& interrupt) {
    Bins bins;
    bins.fine.resize(columns.size() * n_rows);
    bins.is_mixed.assign(columns.size() * 256, 0);
    std::vector<Edges> edges(columns.size());
    pool.run(columns.size(), [&](std::size_t i, std::size_t) {
        interrupt.check();
        if (!columns[i].is_category()) edges[i] = edges_of(columns[i], n_rows);
    });
    // Blocks of rows that stay in cache: a table in row order is read through once, not once per column.
    const std::size_t block = std::clamp<std::size_t>((std::size_t{1} << 16) / columns.size(), 64, 4096);
    const std::size_t n_blocks = (n_rows + block - 1) / block;
    std::vector<std::vector<std::uint8_t>> mixed(pool.size(),
                                                 std::vector<std::uint8_t>(bins.is_mixed.size(), 0));
    pool.run(n_blocks, [&](std::size_t task, std::size_t thread) {
        interrupt.check();
        const std::size_t begin = task * block, end = std::min(n_rows, begin + block);
        for (std::size_t i = 0; i < columns.size(); ++i)
            fill_block(columns[i], edges[i], begin, end, bins.fine.data() + i, columns.size(),
                       mixed[thread].data() + i * 256);
    });
    for (const auto& part : mixed)
        for (std::size_t i = 0; i < part.size(); ++i) bins.is_mixed[i] |= part[i];
    return bins;
}

}  // namespace treewright
