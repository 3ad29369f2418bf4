// The search for the smallest tree: by depth, by leaves, or a quick one that is only small.
#include "born_again/search.hpp"

#include <limits>

#include "born_again/depths.hpp"
#include "born_again/sizes.hpp"

namespace treewright::born_again {

namespace {

constexpr double quick_share = 0.4;  // of the time that the quick tree may take

/// Lays out a tree from the splits that `choose(box, region, spare depth)` takes.
template <class Choose>
Made lay_out(Regions& regions, std::int32_t max_depth, const Choose& choose) {
    struct Waiting {
        Box box;
        std::int32_t depth;
    };
    Made made;
    std::vector<Waiting> waiting{{whole_box(regions.forest()), 0}};
    while (!waiting.empty()) {
        Waiting now = std::move(waiting.back());
        waiting.pop_back();
        const std::uint32_t region = regions.enter(now.box, 0);
        made.depth = std::max(made.depth, now.depth);
        if (regions[region].answer != Region::several) {
            made.nodes.push_back({-1, regions[region].answer});
            ++made.leaves;
            continue;
        }
        if (made.nodes.size() * sizeof(Split) > regions.max_bytes()) throw OutOfMemory();
        const Split split = choose(now.box, region, max_depth - now.depth);
        made.nodes.push_back(split);
        const std::size_t column = split.column;
        Waiting right = now;
        right.depth = ++now.depth;
        right.box.low[column] = split.cut + 1;
        now.box.high[column] = split.cut;
        waiting.push_back(std::move(right));
        waiting.push_back(std::move(now));
    }
    return made;
}

/// The cut after which the least leaves seem to be needed, and of those the one that halves best.
Split promising(Regions& regions, Box& box) {
    const View seen = regions.view(0);
    std::vector<std::int32_t> cuts;
    Split best;
    auto least =
        std::pair{std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max()};
    for (std::size_t column = 0; column < regions.forest().n_columns(); ++column) {
        cuts_of(regions.forest(), seen, column, cuts);
        for (const std::int32_t cut : cuts) {
            const auto [left, right] = halves(regions, box, {static_cast<std::int32_t>(column), cut}, 1);
            const Region &one = regions[left], &two = regions[right];
            const std::pair worth{one.least_leaves + two.least_leaves,
                                  std::max(one.least_leaves, two.least_leaves)};
            if (worth < least) {
                least = worth;
                best = {static_cast<std::int32_t>(column), cut};
            }
        }
    }
    return best;
}

}  // namespace

Outcome search(const Forest& forest, const Limits& limits, Interrupt& interrupt) {
    Outcome outcome;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t own_bytes = limits.objective == Objective::depth ? 0 : limits.max_bytes / 2;
    Regions regions(forest, limits.max_bytes - own_bytes, limits.seconds, interrupt);
    regions.stop_after(limits.seconds * quick_share);
    Box box = whole_box(forest);
    try {
        const Region root = regions[regions.enter(box, 0)];
        outcome.least_depth = root.least_depth;
        outcome.least_leaves = root.least_leaves;
        const auto quick = [&](Box& part, std::uint32_t, std::int32_t) { return promising(regions, part); };
        outcome.tree = lay_out(regions, 0, quick);
        outcome.is_found = true;
    } catch (const OutOfTime&) {
    } catch (const OutOfMemory&) {
        outcome.ran_out_of_memory = true;
    }
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
    regions.stop_after(limits.seconds - used.count());
    try {
        if (limits.objective == Objective::leaves) {
            Sizes sizes(regions, own_bytes, Region::any_depth);
            outcome.least_leaves = sizes.fewest(box, outcome.least_leaves);
            outcome.tree = lay_out(regions, Region::any_depth, [&](Box&, std::uint32_t region, std::int32_t) {
                return sizes.split_of(region, Region::any_depth);
            });
        } else {
            Depths depths(regions);
            outcome.least_depth = depths.least(box, outcome.least_depth);
            outcome.tree =
                lay_out(regions, outcome.least_depth,
                        [&](Box&, std::uint32_t region, std::int32_t) { return regions[region].split; });
            outcome.is_found = true;
            if (limits.objective == Objective::depth_leaves) {
                Sizes sizes(regions, own_bytes, outcome.least_depth, &depths);
                outcome.least_leaves = sizes.fewest(box, outcome.least_leaves);
                outcome.tree = lay_out(regions, outcome.least_depth,
                                       [&](Box&, std::uint32_t region, std::int32_t spare) {
                                           return sizes.split_of(region, spare);
                                       });
            }
        }
        outcome.is_found = outcome.is_smallest = true;
    } catch (const OutOfTime&) {
    } catch (const OutOfMemory&) {
        outcome.ran_out_of_memory = true;
    }
    outcome.n_regions = regions.size();
    return outcome;
}

}  // namespace treewright::born_again
