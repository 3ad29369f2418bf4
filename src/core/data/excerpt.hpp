// The rows of one node as a table of their own, close together in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

/// A problem of some rows of another one: a copy of all that a grower reads, in the order of the rows. Below
/// the top of a large tree the rows of a node lie scattered over the whole table; in an excerpt every pass
/// over them stays in cache.
class Excerpt {
  public:
    Excerpt(const Problem& whole, std::span<const Row> rows) : rows_(rows.begin(), rows.end()) {
        problem.n_rows = rows.size();
        problem.limits = whole.limits;
        problem.interrupt = whole.interrupt;
        problem.targets = whole.targets;
        problem.rows.resize(rows.size());
        std::iota(problem.rows.begin(), problem.rows.end(), Row{0});
        copy_targets(whole);
        copy_columns(whole);
    }
    Excerpt(const Excerpt&) = delete;
    Excerpt& operator=(const Excerpt&) = delete;

    /// The row of the whole table behind a row of the excerpt.
    Row original(Row row) const { return rows_[row]; }

    Problem problem;

  private:
    template <class T>
    const T* copy_of(const T* from, std::size_t n_outputs, std::size_t n_rows, std::vector<T>& to) const {
        if (!from) return nullptr;
        to.reserve(n_outputs * rows_.size());
        for (std::size_t output = 0; output < n_outputs; ++output)
            for (const Row row : rows_) to.push_back(from[output * n_rows + row]);
        return to.data();
    }
    void copy_targets(const Problem& whole) {
        const auto& targets = whole.targets;
        problem.targets.labels = copy_of(targets.labels, targets.n_outputs, whole.n_rows, labels_);
        problem.targets.numbers = copy_of(targets.numbers, targets.n_outputs, whole.n_rows, numbers_);
        problem.targets.weight = copy_of(targets.weight, 1, whole.n_rows, weight_);
    }
    void copy_columns(const Problem& whole) {
        const std::size_t n_columns = whole.columns.size(), n = rows_.size();
        const bool takes_bins = !whole.limits.random_splits;  // cuts that are drawn need none
        fine_bins_.resize(takes_bins ? n * n_columns : 0);
        problem.fine_bins = takes_bins ? fine_bins_.data() : nullptr;
        problem.columns = whole.columns;
        std::size_t n_bytes = 0;
        std::vector<std::size_t> start;
        for (const auto& column : whole.columns) {
            start.push_back(n_bytes);
            n_bytes += (item_size(column.type) * n + 7) / 8 * 8;  // every column is aligned for its type
        }
        cells_ = std::make_unique_for_overwrite<double[]>(n_bytes / 8);
        auto* const cells = reinterpret_cast<std::byte*>(cells_.get());
        for (std::size_t i = 0; i < n_columns; ++i) {
            auto& column = problem.columns[i];
            column.ranks = nullptr;
            column.data = cells + start[i];
            column.stride = static_cast<std::ptrdiff_t>(item_size(column.type));
            if (!takes_bins)
                column.fine_bins = nullptr;
            else if (column.fine_bins)
                column.fine_bins = fine_bins_.data() + i;
        }
        // Blocks of rows, so that a table in row order is read through once and not once per column. One that
        // is not, nor has bins to be read, is read column by column: their rows follow each other in memory.
        constexpr std::size_t few = 512;
        const bool by_columns = !takes_bins && std::ranges::all_of(whole.columns, [](const Column& column) {
            return column.stride == static_cast<std::ptrdiff_t>(item_size(column.type));
        });
        const std::size_t block = by_columns ? std::max<std::size_t>(n, 1) : few;
        for (std::size_t begin = 0; begin < n; begin += block) {
            problem.interrupt->check();
            const std::size_t end = std::min(n, begin + block);
            for (std::size_t i = begin; takes_bins && i < end; ++i)
                std::copy_n(whole.fine_bins + rows_[i] * n_columns, n_columns, &fine_bins_[i * n_columns]);
            for (std::size_t i = 0; i < n_columns; ++i)
                copy_cells(whole.columns[i], cells + start[i], begin, end);
        }
    }
    void copy_cells(const Column& column, std::byte* to, std::size_t begin, std::size_t end) const {
        const auto copy = [&]<class T>(T) {
            const Row* const rows = rows_.data();
            const Column source = column;  // what is written might be anything
            if (std::cmp_equal(source.stride, sizeof(T)))
                for (std::size_t i = begin; i < end; ++i)
                    std::memcpy(to + i * sizeof(T), source.data + rows[i] * sizeof(T), sizeof(T));
            else
                for (std::size_t i = begin; i < end; ++i) {
                    const T value = source.at<T>(rows[i]);
                    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
                }
        };
        if (column.type == Column::Type::float64)
            copy(double{});
        else if (column.type == Column::Type::float32)
            copy(float{});
        else
            copy(std::int32_t{});
    }

    std::vector<Row> rows_;
    std::vector<FineBin> fine_bins_;
    std::unique_ptr<double[]> cells_;  // raw memory, aligned for every type
    std::vector<std::int32_t> labels_;
    std::vector<double> numbers_, weight_;
};

}  // namespace treewright
