// The rows of a node: sorted once by every view, then divided without disturbing the order.
#include "optimising/rows.hpp"

#include <algorithm>
#include <numeric>

#include "optimising/class_measure.hpp"
#include "optimising/square_measure.hpp"

namespace treewright::optimising {

void NodeRows::load(const Table& table) {
    resize(table.n_rows, table.n_views, table.weights != nullptr);
    for (std::size_t row = 0; row < table.n_rows; ++row) {
        targets_[row] = table.are_numbers() ? static_cast<std::int32_t>(row) : table.labels[row];
        if (table.weights) weights_[row] = table.weights[row];
    }
    std::vector<std::size_t> next;  // place of each code in a list
    for (std::size_t view = 0; view < table.n_views; ++view) {
        Cell* const cells = cells_.data() + view * table.n_rows;
        const Code* const codes = table.codes_of(view);
        next.assign(*std::max_element(codes, codes + table.n_rows) + std::size_t{2}, 0);
        for (std::size_t row = 0; row < table.n_rows; ++row) ++next[codes[row] + std::size_t{1}];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (std::size_t row = 0; row < table.n_rows; ++row)
            cells[next[codes[row]]++] = {codes[row], static_cast<std::uint32_t>(row)};
    }
}

std::size_t NodeRows::middle_cut(std::size_t view, std::size_t low, std::size_t high) const {
    const std::size_t middle = low + (high - low) / 2;
    for (std::size_t step = 0; step <= high - low; ++step) {
        if (middle + step <= high && is_cut(view, middle + step)) return middle + step;
        if (middle >= low + step && is_cut(view, middle - step)) return middle - step;
    }
    return 0;
}

std::size_t NodeRows::count_to(std::size_t view, Code code) const {
    const auto rows = list(view);
    const auto end = std::ranges::partition_point(rows, [&](const Cell& cell) { return cell.code <= code; });
    return static_cast<std::size_t>(end - rows.begin());
}

void NodeRows::divide(std::size_t view, std::size_t n_left, NodeRows& left, NodeRows& right) const {
    const std::size_t n = size();
    left.resize(n_left, n_views_, is_weighted());
    right.resize(n - n_left, n_views_, is_weighted());
    auto& places = left.places_;  // several threads may divide the same rows
    places.resize(n);
    constexpr std::uint32_t left_bit = 1;
    const auto tested = list(view);
    for (std::size_t i = 0; i < n; ++i) places[tested[i].row] = i < n_left ? left_bit : 0;
    std::uint32_t next[2] = {0, 0};
    NodeRows* const sides[2] = {&right, &left};
    for (std::size_t row = 0; row < n; ++row) {  // rows keep their order
        const std::uint32_t side = places[row];
        const std::uint32_t place = next[side]++;
        sides[side]->targets_[place] = targets_[row];
        if (is_weighted()) sides[side]->weights_[place] = weights_[row];
        places[row] = place << 1 | side;
    }
    for (std::size_t each = 0; each < n_views_; ++each) {
        const Cell* const cells = cells_.data() + each * n;
        Cell* l = left.cells_.data() + each * n_left;
        Cell* r = right.cells_.data() + each * (n - n_left);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t place = places[cells[i].row];
            const Cell moved{cells[i].code, place >> 1};
            *l = *r = moved;  // on one side it stays, on the other the next one takes its place
            l += place & left_bit;
            r += (place & left_bit) ^ left_bit;
        }
    }
}

Loss leaf_loss(const Table& table, const NodeRows& rows) {
    const auto total_of = [&](auto measure) {
        std::vector<Loss> total(measure.width() + 1, 0);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            measure.for_each_part(rows, row, [&](std::size_t part, Loss count) { total[part] += count; });
            total.back() += table.most_gain(static_cast<std::size_t>(rows.target(row)), rows.weight(row));
        }
        return measure.leaf_loss(total.data());
    };
    return table.are_numbers() ? total_of(SquareMeasure(table)) : total_of(ClassMeasure<Loss>(table));
}

}  // namespace treewright::optimising
