// C4.5's gain ratio rule.
#include "splitting.hpp"

#include "elementary.hpp"

namespace treewright {

std::int32_t ratio_winner(const std::vector<RatioEntry>& entries, double noise) {
    if (entries.empty()) return -1;
    double sum = 0;
    int positive = 0;
    for (const auto& entry : entries)
        if (entry.gain > noise) {
            sum += entry.gain;
            ++positive;
        }
    if (positive == 0) return 0;
    const double average = sum / positive;
    Best best;
    std::int32_t winner = -1;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [gain, information] = entries[i];
        if (gain <= noise || gain < average * (1 - 1e-12) - noise) continue;
        if (best.beaten_by(gain / information)) {
            best.set(gain / information);
            winner = static_cast<std::int32_t>(i);
        }
    }
    return winner;
}

double split_information(double left, double right) {
    const double total = left + right;
    return total * elementary::log2(total) - left * elementary::log2(left) - right * elementary::log2(right);
}

}  // namespace treewright
