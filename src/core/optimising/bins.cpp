// Bins of a node, view by view.
#include "optimising/bins.hpp"

#include <cmath>

namespace treewright::optimising {

namespace {

constexpr std::size_t least_bins = 6, most_bins = 128, many_rows = 50000, most_bins_of_many = 256;

std::size_t bins_for(std::size_t n_rows) {
    const auto wanted = static_cast<std::size_t>(3 * std::sqrt(static_cast<double>(n_rows)));
    return std::clamp(wanted, least_bins, n_rows > many_rows ? most_bins_of_many : most_bins);
}

}  // namespace

void Bins::make(const NodeRows& rows, std::size_t n_classes) {
    const std::size_t n = rows.size(), n_views = rows.n_views(), wanted = bins_for(n);
    stride_ = (n_views + lanes - 1) / lanes * lanes;
    bytes_.assign(n * stride_, 0);
    is_mixed_.assign(wanted * stride_, 0);
    starts_.resize(n_views);
    mass_.assign(n_classes, 0);
    for (std::size_t row = 0; row < n; ++row)
        mass_[static_cast<std::size_t>(rows.label(row))] += static_cast<double>(rows.weight(row));
    std::size_t n_present = 0;
    for (double& mass : mass_)
        if (mass > 0) {
            mass = 1 / mass;
            ++n_present;
        }
    const double share = static_cast<double>(n_present) / static_cast<double>(wanted);
    n_bins_ = 1;
    for (std::size_t view = 0; view < n_views; ++view) {
        const auto list = rows.list(view);
        auto& starts = starts_[view];
        starts.assign(1, 0);
        std::size_t n_codes = 1;
        for (std::size_t i = 1; i < n; ++i) n_codes += list[i].code != list[i - 1].code;
        const bool fits = n_codes <= wanted;  // then every code has a bin of its own
        double filled = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0 && list[i].code != list[i - 1].code) {
                if (fits || (filled >= share * static_cast<double>(starts.size()) && starts.size() < wanted))
                    starts.push_back(static_cast<std::uint32_t>(i));
                else
                    is_mixed_[(starts.size() - 1) * stride_ + view] = 1;
            }
            bytes_[list[i].row * stride_ + view] = static_cast<std::uint8_t>(starts.size() - 1);
            filled += mass_[static_cast<std::size_t>(rows.label(list[i].row))] *
                      static_cast<double>(rows.weight(list[i].row));
        }
        n_bins_ = std::max(n_bins_, starts.size());
        starts.push_back(static_cast<std::uint32_t>(n));
    }
}

}  // namespace treewright::optimising
