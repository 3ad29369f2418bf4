// The best split of a node from its histograms.
#include "boosting/splits.hpp"

#include <algorithm>
#include <cmath>

namespace treewright::boosting {

namespace {

constexpr double noise = 1e-12;        // of the worth of the sides: what rounding may feign
constexpr double category_room = 10.0;  // added to the hessian of a category before categories are ordered
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Between two cells of a node lie borders of cells that it has no rows in: the one nearest to the middle.
std::size_t border_between(const CellColumn& cells, std::size_t cell, std::size_t next_cell) {
    if (next_cell == cells.n_values) return cells.n_values - 1;
    const double middle = cells.high[cell] / 2 + cells.low[next_cell] / 2;
    std::size_t border = cell;
    while (border + 1 < next_cell && cells.low[border + 1] <= middle) ++border;
    // the middle lies between this border and the one before
    if (border > cell && middle - cells.low[border] < cells.high[border] - middle) --border;
    return border;
}

}  // namespace

/// The best split so far; what is needed to write it down is kept small while columns are compared.
template <class Form>
struct SplitSearch<Form>::Best {
    double worth = 0;  // of both sides
    bool is_set = false;
    std::size_t column = 0, cell = 0, next_cell = 0;
    bool missing_left = false;
    Sums left;
    std::vector<std::size_t> categories;  // cells that go left
};

template <class Form>
double SplitSearch<Form>::bounded_worth(const Sums& left, const Sums& right, std::size_t column,
                                        const Bounds& bounds) const {
    const double l = newton_step(gradient(left), hessian(left), limits_.l2, bounds);
    const double r = newton_step(gradient(right), hessian(right), limits_.l2, bounds);
    const auto way = limits_.monotone[column];
    if ((way > 0 && l > r) || (way < 0 && l < r)) return -1;
    return -(gradient(left) * l + gradient(right) * r);
}

/// Borders between cells from left to right, with the missing values on one side. A cell without rows makes no
/// new border. A last border parts values from missing ones.
template <class Form>
template <bool is_bounded>
void SplitSearch<Form>::scan(std::size_t column, const Entry* histogram, const NodeSums& node,
                             bool missing_left, Best& best) const {
    const auto& cells = cells_.columns[column];
    const std::size_t n = cells.n_values;
    Sums left;
    if (missing_left) left = Form::unpack(units_, histogram[n]);
    const Sums all = node.all;
    const double l2 = limits_.l2;
    double most = best.worth;
    std::size_t found = n;
    Sums found_left;
    for (std::size_t cell = 0; cell < n; ++cell) {
        const Sums here = Form::unpack(units_, histogram[cell]);
        if (here.count == 0) continue;
        left.add(here);
        if (left.count < limits_.min_rows_leaf) continue;
        const Sums right = all - left;
        if (right.count < limits_.min_rows_leaf) break;
        const double hl = hessian(left), hr = hessian(right);
        if (hl < limits_.min_hessian) continue;
        if (hr < limits_.min_hessian) break;
        double worth;
        if constexpr (is_bounded) {
            worth = bounded_worth(left, right, column, node.bounds);
        } else {
            const double gl = gradient(left), gr = gradient(right);
            worth = gl * gl / (hl + l2) + gr * gr / (hr + l2);
        }
        if (worth > most) {
            most = worth;
            found = cell;
            found_left = left;
        }
    }
    if (found == n) return;
    best.is_set = true;
    best.worth = most;
    best.column = column;
    best.cell = found;
    best.left = found_left;
    best.missing_left = missing_left;
    best.next_cell = found + 1;
    while (best.next_cell < n && Form::unpack(units_, histogram[best.next_cell]).count == 0) ++best.next_cell;
}

template <class Form>
void SplitSearch<Form>::search_numbers(std::size_t column, const Entry* histogram, const NodeSums& node,
                                       Best& best) const {
    const auto& cells = cells_.columns[column];
    const bool has_missing =
        cells.has_missing && Form::unpack(units_, histogram[cells.n_values]).count > 0;
    for (const bool missing_left : {false, true}) {
        if (missing_left && !has_missing) break;
        if (limits_.monotone.empty())
            scan<false>(column, histogram, node, missing_left, best);
        else
            scan<true>(column, histogram, node, missing_left, best);
    }
}

/// Categories (and missing values as one more) are ordered by the step that each would take by itself; then the
/// best subset of a side is one of the first or of the last of them (Fisher 1958). Those with too few rows to
/// be ordered stay on the side of the many.
template <class Form>
void SplitSearch<Form>::search_categories(std::size_t column, const Entry* histogram, const NodeSums& node,
                                          Best& best) const {
    struct Category {
        double step;
        std::size_t cell;
        Sums sums;
    };
    const auto& cells = cells_.columns[column];
    const double per_hessian = static_cast<double>(node.all.count) / hessian(node.all);
    std::vector<Category> ordered;
    for (std::size_t cell = 0; cell < cells.width(); ++cell) {
        const Sums sums = Form::unpack(units_, histogram[cell]);
        if (sums.count > 0 && hessian(sums) * per_hessian >= category_room)
            ordered.push_back({gradient(sums) / (hessian(sums) + category_room), cell, sums});
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    for (const bool from_above : {false, true}) {
        const std::size_t most = (ordered.size() + (from_above ? 0 : 1)) / 2;
        Sums left;
        std::size_t found = 0;
        for (std::size_t i = 0; i < most; ++i) {
            left.add(ordered[from_above ? ordered.size() - 1 - i : i].sums);
            const Sums right = node.all - left;
            if (!fits(left)) continue;
            if (!fits(right)) break;
            const double worth = limits_.monotone.empty() ? this->worth(left) + this->worth(right)
                                                          : bounded_worth(left, right, column, node.bounds);
            if (worth <= best.worth) continue;
            best.worth = worth;
            best.left = left;
            found = i + 1;
        }
        if (found == 0) continue;
        best.is_set = true;
        best.column = column;
        best.categories.clear();
        for (std::size_t i = 0; i < found; ++i)
            best.categories.push_back(ordered[from_above ? ordered.size() - 1 - i : i].cell);
    }
}

template <class Form>
BoostedSplit SplitSearch<Form>::search(const Entry* histogram, const NodeSums& node,
                                       const std::vector<std::uint8_t>& is_drawn) const {
    Best best;
    const double g = gradient(node.all);
    const double own = limits_.monotone.empty()
                           ? worth(node.all)
                           : -g * newton_step(g, hessian(node.all), limits_.l2, node.bounds);
    best.worth = own > 0 ? own * (1 + noise) : own;
    for (std::size_t column = 0; column < cells_.columns.size(); ++column) {
        if (!is_drawn.empty() && !is_drawn[column]) continue;
        const Entry* const of = histogram + cells_.start[column];
        if (cells_.columns[column].is_category())
            search_categories(column, of, node, best);
        else
            search_numbers(column, of, node, best);
    }
    return best.is_set ? written(best, histogram, node, own) : BoostedSplit{};
}

/// Cells in which the node has no rows go with the heavier side, or at numbers with the nearer one.
template <class Form>
BoostedSplit SplitSearch<Form>::written(const Best& best, const Entry* histogram, const NodeSums& node,
                                        double own) const {
    const auto& cells = cells_.columns[best.column];
    const bool heavier_left = 2 * best.left.count >= node.all.count;
    const Entry* const of = histogram + cells_.start[best.column];
    BoostedSplit split;
    split.gain = best.worth - own;
    split.column = best.column;
    split.left = best.left;
    if (cells.is_category()) {
        for (std::size_t cell = 0; cell < cells.width(); ++cell)
            split.goes_left[cell] = heavier_left && Form::unpack(units_, of[cell]).count == 0;
        for (const auto cell : best.categories) split.goes_left[cell] = 1;
    } else {
        const std::size_t border = border_between(cells, best.cell, best.next_cell);
        split.low = border + 1 == cells.n_values ? infinity : cells.high[border];
        split.high = border + 1 == cells.n_values ? infinity : cells.low[border + 1];
        std::fill(split.goes_left.begin(), split.goes_left.begin() + static_cast<std::ptrdiff_t>(border) + 1,
                  1);
        split.goes_left[cells.n_values] = best.missing_left;
    }
    if (!cells.has_missing || Form::unpack(units_, of[cells.n_values]).count == 0)
        split.goes_left[cells.n_values] = heavier_left;
    split.missing_left = split.goes_left[cells.n_values];
    return split;
}

template class SplitSearch<Narrow>;
template class SplitSearch<Wide>;

}  // namespace treewright::boosting
