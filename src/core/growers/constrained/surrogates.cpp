// Surrogates: one search per column, judged by the weight that goes where the chosen cut sends it.
#include "growers/constrained/surrogates.hpp"

#include <algorithm>
#include <cmath>

#include "data/grids.hpp"

namespace treewright::constrained {

namespace {

constexpr std::size_t least_rows = 2;         // of a surrogate's sides
constexpr double least_adjusted = 1e-10;      // a surrogate must beat the blind majority
constexpr std::size_t worth_threads = 50000;  // cells to look at

}  // namespace

std::vector<Surrogate> SurrogateSearch::find(std::int32_t column, std::span<const Row> rows,
                                             std::span<const int> branch) {
    rows_ = rows;
    branch_ = branch;
    const Grid grid = weight_grid(cases_, rows);
    weight_.resize(rows.size());
    side_[0] = side_[1] = 0;
    for (std::size_t id = 0; id < rows.size(); ++id)
        side_[branch[id]] += weight_[id] = weight_on(grid, cases_, rows[id]);
    total_ = side_[0] + side_[1];
    const std::size_t n_columns = task_.problem.columns.size();
    std::vector<Surrogate> found(n_columns);
    const auto work = [&](std::size_t other, std::size_t thread) {
        task_.problem.interrupt->check();
        if (static_cast<std::int32_t>(other) != column)
            found[other] = search(static_cast<std::int32_t>(other), sorters_[thread]);
    };
    if (rows.size() * n_columns >= worth_threads)
        pool_.run(n_columns, work);
    else
        for (std::size_t other = 0; other < n_columns; ++other) work(other, 0);
    std::erase_if(found, [](const Surrogate& each) { return each.column < 0; });
    // Agreements that differ by rounding alone are equal, and the lower column comes first.
    std::vector<Surrogate> ranked;
    while (!found.empty() && ranked.size() < task_.options.n_surrogates) {
        constexpr double tie = 1e-12;
        auto best = found.begin();
        for (auto each = found.begin(); each != found.end(); ++each)
            if (each->agreement > best->agreement + tie) best = each;
        ranked.push_back(std::move(*best));
        found.erase(best);
    }
    return ranked;
}

Surrogate SurrogateSearch::search(std::int32_t column, Sorter& sorter) const {
    if (task_.ranks[column].is_constant) return {};
    std::vector<Id> list;
    const std::size_t n_known = sorter.sort(task_.ranks[column], rows_, list);
    if (n_known < 2 * least_rows) return {};
    Surrogate found = task_.problem.columns[column].is_category() ? search_category(column, list, n_known)
                                                                  : search_number(column, list, n_known);
    return found.adjusted > least_adjusted ? found : Surrogate{};
}

Surrogate SurrogateSearch::search_number(std::int32_t column, const std::vector<Id>& list,
                                         std::size_t n_known) const {
    const auto& ranks = task_.ranks[column].of_row;
    Sum known[2] = {0, 0}, below[2] = {0, 0};
    for (std::size_t i = 0; i < n_known; ++i) known[branch_[list[i]]] += weight_[list[i]];
    Best best;
    Surrogate found;
    std::size_t n_first = 0;
    for (std::size_t i = 1; i + least_rows <= n_known; ++i) {
        below[branch_[list[i - 1]]] += weight_[list[i - 1]];
        if (i < least_rows || ranks[rows_[list[i - 1]]] == ranks[rows_[list[i]]]) continue;
        const Sum straight = below[0] + known[1] - below[1], crossed = below[1] + known[0] - below[0];
        for (const bool reversed : {false, true}) {
            const auto agreeing = static_cast<double>(reversed ? crossed : straight);
            if (!best.beaten_by(agreeing)) continue;
            best.set(agreeing);
            found.column = column;
            found.reversed = reversed;
            n_first = i;
        }
    }
    if (found.column < 0) return {};
    const Column& source = task_.problem.columns[column];
    found.low = source.value(rows_[list[n_first - 1]]);
    found.high = source.value(rows_[list[n_first]]);
    found.middle = found.low / 2 + found.high / 2;
    rate(found, best.score);
    return found;
}

Surrogate SurrogateSearch::search_category(std::int32_t column, const std::vector<Id>& list,
                                           std::size_t n_known) const {
    const Column& source = task_.problem.columns[column];
    Surrogate found;
    found.column = column;
    found.low = found.high = std::numeric_limits<double>::quiet_NaN();
    // Categories that no row has go where most of the weight goes.
    found.is_left.assign(static_cast<std::size_t>(source.n_categories), side_[0] >= side_[1]);
    std::size_t n_rows[2] = {0, 0};
    Sum agreeing = 0;
    for (std::size_t begin = 0, end; begin < n_known; begin = end) {
        const auto code = source.code(rows_[list[begin]]);
        Sum sides[2] = {0, 0};
        for (end = begin; end < n_known && source.code(rows_[list[end]]) == code; ++end)
            sides[branch_[list[end]]] += weight_[list[end]];
        const bool left = sides[0] >= sides[1];
        found.is_left[code] = left;
        n_rows[left ? 0 : 1] += end - begin;
        agreeing += std::max(sides[0], sides[1]);
    }
    if (std::min(n_rows[0], n_rows[1]) < least_rows) return {};
    rate(found, static_cast<double>(agreeing));
    return found;
}

void SurrogateSearch::rate(Surrogate& found, double agreeing) const {
    const auto total = static_cast<double>(total_),
               majority = static_cast<double>(std::max(side_[0], side_[1]));
    found.agreement = agreeing / total;
    found.adjusted = (agreeing - majority) / (total - majority);
}

}  // namespace treewright::constrained
