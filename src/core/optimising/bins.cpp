// Bins of a node, view by view.
#include "optimising/bins.hpp"

#include <algorithm>
#include <cmath>

namespace treewright::optimising {

namespace {

constexpr std::size_t least_bins = 6, most_bins = 128, many_rows = 50000, most_bins_of_many = 256;

std::size_t bins_for(std::size_t n_rows) {
    const auto wanted = static_cast<std::size_t>(3 * std::sqrt(static_cast<double>(n_rows)));
    return std::clamp(wanted, least_bins, n_rows > many_rows ? most_bins_of_many : most_bins);
}

std::size_t count_codes(std::span<const Cell> list) {
    std::size_t n = 1;
    for (std::size_t i = 1; i < list.size(); ++i) n += list[i].code != list[i - 1].code;
    return n;
}

}  // namespace

void Bins::weigh(const Table& table, const NodeRows& rows) {
    mass_.resize(rows.size());
    if (table.are_numbers()) {
        double weight = 0, square = 0;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const Number& number = table.numbers[static_cast<std::size_t>(rows.target(row))];
            weight += static_cast<double>(number.weight);
            square += static_cast<double>(number.square);
        }
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const Number& number = table.numbers[static_cast<std::size_t>(rows.target(row))];
            mass_[row] = (static_cast<double>(number.weight) / weight +
                          static_cast<double>(number.square) / std::max(square, 1.0)) /
                         2;
        }
        return;
    }
    class_mass_.assign(table.n_classes, 0);
    for (std::size_t row = 0; row < rows.size(); ++row)
        class_mass_[static_cast<std::size_t>(rows.target(row))] += static_cast<double>(rows.weight(row));
    const auto n_present =
        static_cast<double>(std::ranges::count_if(class_mass_, [](double mass) { return mass > 0; }));
    for (std::size_t row = 0; row < rows.size(); ++row)
        mass_[row] = static_cast<double>(rows.weight(row)) /
                     class_mass_[static_cast<std::size_t>(rows.target(row))] / n_present;
}

void Bins::make(const Table& table, const NodeRows& rows) {
    const std::size_t n = rows.size(), n_views = rows.n_views(), wanted = bins_for(n);
    weigh(table, rows);
    stride_ = (n_views + lanes - 1) / lanes * lanes;
    bytes_.assign(n * stride_, 0);
    is_mixed_.assign(wanted * stride_, 0);
    starts_.resize(n_views);
    n_bins_ = 1;
    for (std::size_t view = 0; view < n_views; ++view) {
        const auto list = rows.list(view);
        auto& starts = starts_[view];
        starts.assign(1, 0);
        const bool fits = count_codes(list) <= wanted;  // then every code has a bin of its own
        double filled = 0, enough = 1 / static_cast<double>(wanted);
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0 && list[i].code != list[i - 1].code) {
                if (fits || (filled >= enough && starts.size() < wanted)) {
                    starts.push_back(static_cast<std::uint32_t>(i));
                    enough = static_cast<double>(starts.size()) / static_cast<double>(wanted);
                } else {
                    is_mixed_[(starts.size() - 1) * stride_ + view] = 1;
                }
            }
            bytes_[list[i].row * stride_ + view] = static_cast<std::uint8_t>(starts.size() - 1);
            filled += mass_[list[i].row];
        }
        n_bins_ = std::max(n_bins_, starts.size());
        starts.push_back(static_cast<std::uint32_t>(n));
    }
}

}  // namespace treewright::optimising
