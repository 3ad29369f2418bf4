// Surrogates: one search per column, judged by the weight that goes where the chosen cut sends it.
#include "growers/constrained/surrogates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "data/grids.hpp"

namespace treewright::constrained {

namespace {

constexpr std::size_t least_rows = 2;         // of a surrogate's sides
constexpr double least_adjusted = 1e-10;      // a surrogate must beat the blind majority
constexpr std::size_t worth_threads = 50000;  // cells to look at

}  // namespace

std::vector<Surrogate> SurrogateSearch::find(std::int32_t column, const View& node,
                                             std::span<const int> branch) {
    weigh(node, branch);
    const std::size_t n_columns = task_.problem.columns.size();
    std::vector<Surrogate> found(n_columns);
    const auto work = [&](std::size_t other, std::size_t thread) {
        task_.problem.interrupt->check();
        if (static_cast<std::int32_t>(other) != column)
            found[other] = search(static_cast<std::int32_t>(other), node, threads_[thread]);
    };
    if (node.ids.size() * n_columns >= worth_threads)
        pool_.run(n_columns, work);
    else
        for (std::size_t other = 0; other < n_columns; ++other) work(other, 0);
    std::erase_if(found, [](const Surrogate& each) { return each.column < 0; });
    return ranked(std::move(found));
}

void SurrogateSearch::weigh(const View& node, std::span<const int> branch) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < branch.size(); ++i)
        if (branch[i] >= 0) rows.push_back(task_.row(node.ids[i]));
    const Grid grid = weight_grid(cases_, rows);
    weight_.resize(task_.problem.rows.size());
    side_[0] = side_[1] = 0;
    for (std::size_t i = 0; i < branch.size(); ++i) {
        Sum& weight = weight_[node.ids[i]] = 0;
        if (branch[i] < 0) continue;
        weight = weight_on(grid, cases_, task_.row(node.ids[i]));
        side_[branch[i]] += weight;
        if (branch[i] == 1) weight = -weight;
    }
    total_ = side_[0] + side_[1];
}

/// Agreements that differ by rounding alone are equal, and the lower column comes first.
std::vector<Surrogate> SurrogateSearch::ranked(std::vector<Surrogate>&& found) const {
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

Surrogate SurrogateSearch::search(std::int32_t column, const View& node, Thread& thread) const {
    if (task_.ranks[column].is_constant) return {};
    gather(thread.sorter.list_of(task_, node, column), thread.known);
    if (thread.known.n < 2 * least_rows) return {};
    Surrogate found = task_.problem.columns[column].is_category() ? search_category(column, thread.known)
                                                                  : search_number(column, thread.known);
    return found.adjusted > least_adjusted ? found : Surrogate{};
}

/// Without branches: nobody can foresee which rows these are.
void SurrogateSearch::gather(const SortedList<Id>& list, Known& known) const {
    known.ids.resize(list.n_known + 1);
    known.weight.resize(list.n_known + 1);
    std::size_t n = 0;
    for (std::size_t i = 0; i < list.n_known; ++i) {
        known.ids[n] = list.entries[i];
        known.weight[n] = weight_[list.entries[i]];
        n += known.weight[n] != 0;
    }
    known.n = n;
}

Surrogate SurrogateSearch::search_number(std::int32_t column, const Known& known) const {
    const auto& rank = task_.ranks[column].of_id;
    Sum left = 0, right = 0;
    for (std::size_t i = 0; i < known.n; ++i)
        (known.weight[i] > 0 ? left : right) += std::abs(known.weight[i]);
    Best best;
    Surrogate found;
    std::size_t n_first = 0;
    Sum straight =
        right;  // what agrees if the rows before the cut go left; `left + right` less that if right
    for (std::size_t i = 1; i + least_rows <= known.n; ++i) {
        straight += known.weight[i - 1];
        const Sum crossed = left + right - straight;
        if (!best.beaten_by(static_cast<double>(std::max(straight, crossed))) || i < least_rows ||
            rank[known.ids[i - 1]] == rank[known.ids[i]])
            continue;
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
    found.low = source.value(task_.row(known.ids[n_first - 1]));
    found.high = source.value(task_.row(known.ids[n_first]));
    found.middle = found.low / 2 + found.high / 2;
    rate(found, best.score);
    return found;
}

Surrogate SurrogateSearch::search_category(std::int32_t column, const Known& known) const {
    const auto& rank = task_.ranks[column].of_id;
    const Column& source = task_.problem.columns[column];
    Surrogate found;
    found.column = column;
    found.low = found.high = std::numeric_limits<double>::quiet_NaN();
    // Categories that no row has go where most of the weight goes.
    found.is_left.assign(static_cast<std::size_t>(source.n_categories), side_[0] >= side_[1]);
    std::size_t n_rows[2] = {0, 0};
    Sum agreeing = 0;
    for (std::size_t begin = 0, end; begin < known.n; begin = end) {
        Sum sides[2] = {0, 0};
        for (end = begin; end < known.n && rank[known.ids[end]] == rank[known.ids[begin]]; ++end)
            sides[known.weight[end] > 0 ? 0 : 1] += std::abs(known.weight[end]);
        const bool left = sides[0] >= sides[1];
        found.is_left[source.code(task_.row(known.ids[begin]))] = left;
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
