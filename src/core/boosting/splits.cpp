// The best split of a node from its histograms.
#include "boosting/splits.hpp"

#include <algorithm>
#include <cmath>

namespace treewright::boosting {

namespace {

constexpr double noise = 1e-12;         // of the worth of the sides: what rounding may feign
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

template <class Form>
double SplitSearch<Form>::bounded_worth(const Sums& left, const Sums& right, std::size_t column,
                                        const Bounds& bounds) const {
    const double l = newton_step(gradient(left), hessian(left), limits_.l2, bounds);
    const double r = newton_step(gradient(right), hessian(right), limits_.l2, bounds);
    const auto way = limits_.monotone[column];
    if ((way > 0 && l > r) || (way < 0 && l < r)) return -1;
    return -(gradient(left) * l + gradient(right) * r);
}

/// The sums from the left up to each cell, and the cells after which a cut leaves enough rows on both sides.
template <class Form>
struct SplitSearch<Form>::Borders {
    alignas(16) std::array<Entry, 258> left;  // room for a pair that begins at the last one
    std::size_t begin = 0, end = 0;

    Borders(const Entry* histogram, std::size_t n, bool missing_left, std::int64_t n_rows,
            const Limits& limits, const Units& units) {
        Entry sum{};
        if (missing_left) sum = histogram[n];
        for (std::size_t cell = 0; cell < n; ++cell) left[cell] = sum += histogram[cell];
        left[n] = left[n + 1] = sum;
        const auto first = [&](std::int64_t least) {  // the first cell up to which there are so many rows
            const auto is_below = [&](const Entry& entry, std::int64_t rows) {
                return Form::count(units, entry) < rows;
            };
            return static_cast<std::size_t>(std::lower_bound(left.begin(),
                                                             left.begin() + static_cast<std::ptrdiff_t>(n),
                                                             least, is_below) -
                                            left.begin());
        };
        begin = first(limits.min_rows_leaf);
        end = first(n_rows - limits.min_rows_leaf + 1);
    }
};

/// At most so much is to be had at the borders of a column, in units, but for rounding.
template <class Form>
double SplitSearch<Form>::most_worth(const Borders& borders, const Sums& all) const
    requires Form::has_pairs
{
    const double room = limits_.l2 / units_.hessian;
    const auto all_gradient = static_cast<double>(all.gradient);
    const double all_hessian = static_cast<double>(all.hessian) + 2 * room;
    const Units units = units_;
    Pair most{0, 0};
    for (std::size_t cell = borders.begin; cell < borders.end; cell += 2) {
        Pair gl, hl;
        Form::unpack(units, borders.left.data() + cell, gl, hl);
        hl += Pair{room, room};
        const Pair gr = Pair{all_gradient, all_gradient} - gl, hr = Pair{all_hessian, all_hessian} - hl;
        const Pair worth = (gl * gl * hr + gr * gr * hl) / (hl * hr);
        most = larger(worth, most);
    }
    return std::max(most[0], most[1]);
}

/// Borders between cells from left to right, with the missing values on one side. A cell without rows makes
/// no new border; a last border parts values from missing ones. Most columns are no match for the best one
/// and are told apart by pairs of borders, with room for rounding.
template <class Form>
void SplitSearch<Form>::scan(std::size_t column, const Entry* histogram, const NodeSums& node,
                             bool missing_left, BestSplit& best) const {
    const std::size_t n = cells_.columns[column].n_values;
    const Borders borders(histogram, n, missing_left, node.all.count, limits_, units_);
    const bool is_bounded = !limits_.monotone.empty();
    if (borders.begin >= borders.end) return;
    if constexpr (Form::has_pairs)
        if (!is_bounded && most_worth(borders, node.all) * scale_ * (1 + 1e-9) < best.worth) return;
    std::size_t found = n;
    for (std::size_t cell = borders.begin; cell < borders.end; ++cell) {
        const Sums left = Form::unpack(units_, borders.left[cell]), right = node.all - left;
        if (hessian(left) < limits_.min_hessian || hessian(right) < limits_.min_hessian) continue;
        const double worth = is_bounded ? bounded_worth(left, right, column, node.bounds)
                                        : this->worth(left) + this->worth(right);
        if (!(worth > best.worth)) continue;
        best.worth = worth;
        best.left = left;
        found = cell;
    }
    if (found == n) return;
    best.is_set = true;
    best.column = column;
    best.cell = found;
    best.missing_left = missing_left;
    best.next_cell = found + 1;
    while (best.next_cell < n && Form::is_empty(histogram[best.next_cell])) ++best.next_cell;
}

template <class Form>
void SplitSearch<Form>::search_numbers(std::size_t column, const Entry* histogram, const NodeSums& node,
                                       BestSplit& best) const {
    const auto& cells = cells_.columns[column];
    const bool has_missing = cells.has_missing && !Form::is_empty(histogram[cells.n_values]);
    for (const bool missing_left : {false, true})
        if (has_missing || !missing_left) scan(column, histogram, node, missing_left, best);
}

/// Categories (and missing values as one more) are ordered by the step that each would take by itself; then
/// the best subset of a side is one of the first or of the last of them (Fisher 1958). Those with too few
/// rows to be ordered stay on the side of the many.
template <class Form>
void SplitSearch<Form>::search_categories(std::size_t column, const Entry* histogram, const NodeSums& node,
                                          BestSplit& best) const {
    struct Category {
        double step;
        std::size_t cell;
        Sums sums;
    };
    const auto& cells = cells_.columns[column];
    const double per_hessian = node.weight / hessian(node.all);
    std::vector<Category> ordered;
    for (std::size_t cell = 0; cell < cells.width(); ++cell) {
        const Sums sums = Form::unpack(units_, histogram[cell]);
        if (sums.count > 0 && hessian(sums) * per_hessian >= category_room)
            ordered.push_back({gradient(sums) / (hessian(sums) + category_room), cell, sums});
    }
    if (ordered.size() < 2) return;
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    for (const bool from_above : {false, true}) {
        const std::size_t most =
            (ordered.size() + 1) / 2 - (from_above ? 1 : 0);  // half of them, each split once
        Sums left;
        std::size_t found = 0;
        for (std::size_t i = 0; i < most; ++i) {
            left += ordered[from_above ? ordered.size() - 1 - i : i].sums;
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
BestSplit SplitSearch<Form>::begin(const NodeSums& node) const {
    const double g = gradient(node.all);
    BestSplit best;
    best.own = limits_.monotone.empty() ? worth(node.all)
                                        : -g * newton_step(g, hessian(node.all), limits_.l2, node.bounds);
    best.worth = best.own > 0 ? best.own * (1 + noise) : best.own;
    return best;
}

template <class Form>
void SplitSearch<Form>::search(std::size_t column, const Entry* histogram, const NodeSums& node,
                               BestSplit& best) const {
    const Entry* const of = histogram + cells_.start[column];
    if (cells_.columns[column].is_category())
        search_categories(column, of, node, best);
    else
        search_numbers(column, of, node, best);
}

template <class Form>
BoostedSplit SplitSearch<Form>::written(const BestSplit& best, const Entry* histogram) const {
    const auto& cells = cells_.columns[best.column];
    const Entry* const of = histogram + cells_.start[best.column];
    const std::size_t n = cells.n_values;
    BoostedSplit split;
    split.gain = best.worth - best.own;
    split.column = best.column;
    split.left = best.left;
    if (cells.is_category()) {
        for (std::size_t cell = 0; cell < n; ++cell)
            if (Form::is_empty(of[cell])) split.goes_left[cell] = BoostedSplit::unseen;
        for (const auto cell : best.categories) split.goes_left[cell] = 1;
    } else {
        const std::size_t border = border_between(cells, best.cell, best.next_cell);
        split.low = border + 1 == n ? infinity : cells.high[border];
        split.high = border + 1 == n ? infinity : cells.low[border + 1];
        std::fill(split.goes_left.begin(), split.goes_left.begin() + static_cast<std::ptrdiff_t>(border) + 1,
                  1);
        split.goes_left[n] = best.missing_left;
    }
    if (!cells.has_missing || Form::is_empty(of[n])) split.goes_left[n] = BoostedSplit::unseen;
    return split;
}

void send_unseen(BoostedSplit& split, const CellColumn& cells, bool heavier_left) {
    for (auto& side : split.goes_left)
        if (side == BoostedSplit::unseen) side = heavier_left;
    split.missing_left = split.goes_left[cells.n_values] != 0;
}

template class SplitSearch<NarrowSums>;
template class SplitSearch<WideSums>;
template class SplitSearch<LooseSums>;

}  // namespace treewright::boosting
