// From values to cells.
#include "boosting/cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boosting/edge_sample.hpp"

namespace treewright::boosting {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Upper edges of the cells of a column, to find the cell of a value by halving without branches.
class Edges {
  public:
    explicit Edges(const std::vector<double>& edges) {
        upper_.fill(infinity);
        std::copy(edges.begin(), edges.end(), upper_.begin());
    }
    std::size_t cell(double value) const {
        std::size_t cell = 0;
        for (std::size_t step = 128; step > 0; step /= 2)
            cell += static_cast<std::size_t>(upper_[cell + step - 1] < value) * step;
        return cell;
    }

  private:
    std::array<double, 256> upper_;
};

struct Distinct {
    double value;
    std::size_t count;
};

std::vector<Distinct> distinct_values(std::vector<double>& sample) {
    std::sort(sample.begin(), sample.end());
    std::vector<Distinct> out;
    for (const double value : sample)
        if (out.empty() || out.back().value != value)
            out.push_back({value, 1});
        else
            ++out.back().count;
    return out;
}

/// At most most − 1 edges between cells of about equally many rows; frequent values get cells of their own.
std::vector<double> even_edges(const std::vector<Distinct>& values, std::size_t n, std::size_t most) {
    const auto fair = static_cast<double>(n) / static_cast<double>(most);
    const auto is_frequent = [&](std::size_t i) { return static_cast<double>(values[i].count) >= fair; };
    std::size_t rest = n, n_cells = most;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (is_frequent(i)) {
            rest -= values[i].count;
            --n_cells;
        }
    std::vector<double> edges;
    std::size_t held = 0;
    for (std::size_t i = 0; i + 1 < values.size() && edges.size() + 1 < most; ++i) {
        const double aim = static_cast<double>(rest) / static_cast<double>(std::max<std::size_t>(n_cells, 1));
        held += values[i].count;
        const bool is_full = static_cast<double>(held) >= aim;
        const bool before_frequent = is_frequent(i + 1) && static_cast<double>(held) >= aim / 2;
        if (!is_frequent(i) && !is_full && !before_frequent) continue;
        edges.push_back(values[i].value);
        if (!is_frequent(i)) {
            rest -= std::min(rest, held);
            n_cells -= std::min<std::size_t>(n_cells, 1);
        }
        held = 0;
    }
    return edges;
}

/// Adds values that the sample has missed; false as soon as there are more than `most`.
bool complete(std::vector<double>& values, const Column& column, const Chosen& rows, std::size_t most) {
    return with_values(column, [&](auto value) {
        Edges edges(values);
        for (std::size_t i = 0; i < rows.n; ++i) {
            const double v = value(rows[i]);
            if (std::isnan(v)) continue;
            const std::size_t cell = edges.cell(v);
            if (cell < values.size() && values[cell] == v) continue;
            if (values.size() == most) return false;
            values.insert(values.begin() + static_cast<std::ptrdiff_t>(cell), v + 0.0);
            edges = Edges(values);
        }
        return true;
    });
}

std::vector<double> edges_of(const Column& column, const Chosen& rows, const EdgeSample& chosen,
                             std::size_t most) {
    std::vector<double> sample;
    sample.reserve(chosen.rows.size());
    with_values(column, [&](auto value) {
        for (const Row i : chosen.rows)
            if (const double v = value(rows[i]); !std::isnan(v)) sample.push_back(v + 0.0);
    });
    const auto distinct = distinct_values(sample);
    if (distinct.size() > most) return even_edges(distinct, sample.size(), most);
    std::vector<double> values;
    for (const auto& each : distinct) values.push_back(each.value);
    // Where all values together are too many, those of the sample share the others among them.
    if (auto all = values; !chosen.is_whole && complete(all, column, rows, most)) values = std::move(all);
    if (!values.empty()) values.pop_back();  // the last cell has no upper edge
    return values;
}

/// A cell for each category, or for the most frequent ones and one for all others.
std::vector<std::uint8_t> cells_of_categories(const Column& column, const Chosen& rows, std::size_t most) {
    const auto n_categories = static_cast<std::size_t>(column.n_categories);
    std::vector<std::uint8_t> cell(n_categories);
    if (n_categories <= most) {
        std::iota(cell.begin(), cell.end(), std::uint8_t{0});
        return cell;
    }
    std::vector<std::size_t> count(n_categories, 0), order(n_categories);
    for (std::size_t i = 0; i < rows.n; ++i)
        if (const auto code = column.code(rows[i]); code >= 0)
            count[static_cast<std::size_t>(code)] += rows.count(i);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return count[a] > count[b]; });
    for (std::size_t place = 0; place < n_categories; ++place)
        cell[order[place]] = static_cast<std::uint8_t>(std::min(place, most - 1));
    return cell;
}

/// Fills blocks of rows, all columns of a block after each other, so that the table is read through once.
class Filler {
  public:
    Filler(const std::vector<Column>& columns, Chosen rows, std::size_t most, Cells& cells, Pool& pool,
           Interrupt& interrupt)
        : columns_(columns), rows_(rows), cells_(cells), edges_(columns.size(), Edges({})) {
        cells.columns.resize(columns.size());
        const EdgeSample sample(columns, rows, pool, interrupt);
        pool.run(columns.size(), [&](std::size_t i, std::size_t) {
            interrupt.check();
            auto& column = cells.columns[i];
            if (columns[i].is_category()) {
                column.of_category = cells_of_categories(columns[i], rows, most);
                column.n_values = std::min(column.of_category.size(), most);
                if (column.of_category.empty()) column.of_category.push_back(0);  // only missing values
                return;
            }
            column.high = edges_of(columns[i], rows, sample, most);
            edges_[i] = Edges(column.high);
            column.n_values = column.high.size() + 1;
            column.high.push_back(infinity);
        });
        const std::size_t n_threads = pool.size();
        low_.assign(n_threads, std::vector<double>(columns.size() * 256, infinity));
        missing_.assign(n_threads, std::vector<std::uint8_t>(columns.size(), 0));
    }

    void fill(std::size_t i, std::size_t begin, std::size_t end, std::size_t thread) {
        auto* const out = cells_.by_column.data() + i * cells_.n_rows;
        const auto n_values = static_cast<std::uint8_t>(cells_.columns[i].n_values);
        auto& missing = missing_[thread][i];
        if (columns_[i].is_category()) {
            const auto& cell = cells_.columns[i].of_category;
            for (std::size_t row = begin; row < end; ++row) {
                const auto code = columns_[i].code(rows_[row]);
                missing |= code < 0;
                out[row] = code < 0 ? n_values : cell[static_cast<std::size_t>(code)];
            }
        } else {
            double* const low = low_[thread].data() + i * 256;
            with_values(columns_[i], [&](auto value) {
                for (std::size_t row = begin; row < end; ++row) {
                    const double v = value(rows_[row]);
                    const std::size_t cell = edges_[i].cell(v);  // NaN comes out as 0
                    if (v < low[cell]) low[cell] = v + 0.0;      // 0.0 and −0.0 are one number
                    missing |= v != v;
                    out[row] = v == v ? static_cast<std::uint8_t>(cell) : n_values;
                }
            });
        }
        for (std::size_t row = begin; row < end; ++row) cells_.by_row[row * columns_.size() + i] = out[row];
    }

    /// What the threads have seen, put together.
    void finish() {
        cells_.start.assign(1, 0);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            auto& column = cells_.columns[i];
            for (const auto& seen : missing_) column.has_missing |= seen[i] != 0;
            if (!columns_[i].is_category()) {
                column.low.assign(column.n_values, infinity);
                for (const auto& seen : low_)
                    for (std::size_t cell = 0; cell < column.n_values; ++cell)
                        column.low[cell] = std::min(column.low[cell], seen[i * 256 + cell]);
            }
            cells_.start.push_back(cells_.start.back() + column.width());
        }
    }

  private:
    const std::vector<Column>& columns_;
    Chosen rows_;
    Cells& cells_;
    std::vector<Edges> edges_;
    std::vector<std::vector<double>> low_;            // by thread: 256 for each column
    std::vector<std::vector<std::uint8_t>> missing_;  // by thread: for each column
};

}  // namespace

Cells make_cells(const std::vector<Column>& columns, const Row* rows, std::size_t n_rows,
                 const Repeats& repeats, std::size_t most, Pool& pool, Interrupt& interrupt) {
    Cells cells;
    cells.n_rows = n_rows;
    Filler filler(columns, {rows, n_rows, repeats}, most, cells, pool, interrupt);
    cells.by_row = UnfilledVector<std::uint8_t>(n_rows * columns.size());
    cells.by_column = UnfilledVector<std::uint8_t>(n_rows * columns.size());
    const std::size_t block = std::clamp<std::size_t>((std::size_t{1} << 16) / columns.size(), 64, 4096);
    pool.run((n_rows + block - 1) / block, [&](std::size_t task, std::size_t thread) {
        interrupt.check();
        const std::size_t begin = task * block, end = std::min(n_rows, begin + block);
        for (std::size_t i = 0; i < columns.size(); ++i) filler.fill(i, begin, end, thread);
    });
    filler.finish();
    return cells;
}

}  // namespace treewright::boosting
