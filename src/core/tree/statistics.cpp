// Sums over a tree in preorder, from the leaves to the root.
#include "tree/statistics.hpp"

#include <numeric>

#include "support/exact_sum.hpp"
#include "tree/shape.hpp"

namespace treewright {

Summary summarise(const Criterion& criterion, std::span<const std::int32_t> end, const SparseRows& leaves,
                  std::span<const std::int32_t> borders, Interrupt& interrupt) {
    const std::size_t n_blocks = borders.size() - 1, n = end.size() * n_blocks;
    Summary out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n),
                std::vector<std::int64_t>(n)};
    visit_sums(end, leaves, interrupt, [&](std::size_t node, const SparseRow& row) {
        for (std::size_t block = 0; block < n_blocks; ++block) {
            const std::size_t place = node * n_blocks + block;
            const SparseRow part = row.between(borders[block], borders[block + 1]);
            for (std::size_t i = 0; i < part.value.size(); ++i) {
                out.weight[place] += part.value[i];
                if (!(part.value[i] > out.heaviest[place])) continue;
                out.heaviest[place] = part.value[i];
                out.label[place] = part.column[i] - borders[block];
            }
            out.risk[place] = criterion.risk(part.value);  // a class that is absent weighs nothing
        }
    });
    return out;
}

OwnedRows wanted_sums(std::span<const std::int32_t> end, const SparseRows& leaves,
                      std::span<const std::uint8_t> wanted, Interrupt& interrupt) {
    OwnedRows backwards, out;
    visit_sums(end, leaves, interrupt, [&](std::size_t node, const SparseRow& row) {
        if (wanted[node]) backwards.add(row);
    });
    for (std::size_t i = backwards.start.size() - 1; i-- > 0;) out.add(backwards.view()[i]);
    return out;
}

std::vector<double> sums_at(std::span<const std::int32_t> end, const SparseRows& leaves,
                            std::span<const std::int32_t> columns, std::size_t n_columns,
                            Interrupt& interrupt) {
    std::vector<double> out(end.size() * n_columns);
    visit_sums(end, leaves, interrupt, [&](std::size_t node, const SparseRow& row) {
        for (std::size_t i = node * n_columns; i < (node + 1) * n_columns; ++i) out[i] = row.at(columns[i]);
    });
    return out;
}

std::vector<double> exact_sums(std::span<const double> value, std::span<const double> weight,
                               std::span<const std::int64_t> group, std::size_t n_groups) {
    // One sum at a time is kept, so the places of the values are put in the order of their groups first.
    std::vector<std::size_t> end(n_groups + 1, 0), place;
    if (group.empty()) {
        end[n_groups] = value.size();
    } else {
        for (const auto each : group) ++end[each + 1];
        std::partial_sum(end.begin(), end.end(), end.begin());
        place.resize(value.size());
        auto next = end;
        for (std::size_t i = 0; i < value.size(); ++i) place[next[group[i]]++] = i;
    }
    std::vector<double> out(n_groups, 0.0);
    ExactSum sum;
    for (std::size_t g = 0; g < n_groups; ++g) {
        if (end[g] == end[g + 1]) continue;
        sum.clear();
        for (std::size_t k = end[g]; k < end[g + 1]; ++k) {
            const std::size_t i = place.empty() ? k : place[k];
            if (weight.empty())
                sum.add(value[i]);
            else
                sum.add_product(weight[i], value[i]);
        }
        out[g] = sum.rounded();
    }
    return out;
}

namespace {

/// Calls join(left, right, parent) with the statistics of every branch and its children, from below.
template <class Join>
void join_branches(Shape end, std::size_t width, double* statistic, Join join) {
    const auto at = [&](std::int32_t node) { return statistic + node * width; };
    for_each_branch(end, [&](std::int32_t node, std::int32_t left, std::int32_t right) {
        join(at(left), at(right), at(node));
    });
}

}  // namespace

void join_classes(std::span<const std::int32_t> end, std::size_t width, double* statistic) {
    join_branches(end, width, statistic, [&](const double* left, const double* right, double* out) {
        for (std::size_t i = 0; i < width; ++i) out[i] = left[i] + right[i];
    });
}

void join_moments(std::span<const std::int32_t> end, std::size_t width, double* statistic) {
    join_branches(end, width, statistic, [&](const double* left, const double* right, double* out) {
        for (std::size_t i = 0; i + 2 < width; i += 3) {
            const double weight = left[i] + right[i], share = weight > 0 ? right[i] / weight : 0.0;
            const double distance = right[i + 1] - left[i + 1];
            out[i] = weight;
            out[i + 1] = left[i + 1] + distance * share;
            out[i + 2] = left[i + 2] + right[i + 2] + distance * distance * left[i] * share;
        }
    });
}

}  // namespace treewright
