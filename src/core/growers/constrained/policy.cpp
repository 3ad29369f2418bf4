// Choosing by gain or by gain ratio.
#include "growers/constrained/policy.hpp"

#include <algorithm>
#include <numeric>

#include "growers/constrained/release8.hpp"
#include "support/elementary.hpp"

namespace treewright::constrained {

namespace {

class ByGain final : public Policy {
  public:
    std::int32_t choose(const std::vector<Cut>& cuts, double) const override {
        Records<std::int32_t> records;
        records.clear(noise_of(cuts));
        for (std::size_t i = 0; i < cuts.size(); ++i)
            if (cuts[i].score > records.largest()) records.add(cuts[i].score, static_cast<std::int32_t>(i));
        return records.found() ? records.first() : -1;
    }
};

class ByRatio final : public Policy {
  public:
    std::int32_t choose(const std::vector<Cut>& cuts, double) const override {
        std::vector<RatioEntry> entries;
        for (const auto& cut : cuts) entries.push_back({cut.score, split_information(cut.weights)});
        return ratio_winner(entries, noise_of(cuts));
    }
};

}  // namespace

double split_information(const std::vector<double>& weights) {
    if (weights.size() == 2) return treewright::split_information(weights[0], weights[1]);
    const auto term = [](double weight) { return weight > 0 ? weight * elementary::log2(weight) : 0.0; };
    double sum = term(std::accumulate(weights.begin(), weights.end(), 0.0));
    for (const double weight : weights) sum -= term(weight);
    return sum;
}

double noise_of(const std::vector<Cut>& cuts) {
    double noise = 0;
    for (const auto& cut : cuts) noise = std::max(noise, cut.noise);
    return noise;
}

std::unique_ptr<Policy> make_policy(const Problem& problem, const Options& options,
                                    const Criterion& criterion) {
    if (options.release8) return std::make_unique<Release8>(problem);
    if (criterion.by_ratio) return std::make_unique<ByRatio>();
    return std::make_unique<ByGain>();
}

}  // namespace treewright::constrained
