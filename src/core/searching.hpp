// Chooses the scanner that fits a criterion and a problem, and enlists criteria.
#pragma once

#include <optional>
#include <type_traits>

#include "careful/looking.hpp"
#include "criterion.hpp"
#include "drawn_cuts.hpp"
#include "histograms.hpp"
#include "linear.hpp"
#include "lists.hpp"
#include "measuring.hpp"
#include "medians.hpp"
#include "nodes.hpp"
#include "scanning.hpp"

namespace treewright {

/// Local ids of 16 bits keep twice as many lists in cache.
constexpr std::size_t max_short_rows = 65535;

/// A searcher over one scanner, with growers for short and long lists made when they are first needed.
template <template <class> class Scanner, bool ratio>
class ListSearcher : public Searcher {
  public:
    explicit ListSearcher(const Problem& problem) : problem_(problem) {}

    void grow_small(Row* rows, const Job& job, Nodes& out) override {
        const auto& root = out.nodes[job.node];
        const bool is_short = root.end - root.begin <= max_short_rows;
        if constexpr (draws_cuts)
            if (problem_.limits.random_splits)
                return is_short ? grow(short_drawn_, rows, job, out) : grow(long_drawn_, rows, job, out);
        return is_short ? grow(short_, rows, job, out) : grow(long_, rows, job, out);
    }

  private:
    using Short = std::uint16_t;
    using Long = std::uint32_t;
    struct Nothing {};
    /// Drawn cuts need no order of the rows; to compare columns by ratio, or groups by medians, lists know
    /// how.
    static constexpr bool draws_cuts = !ratio && Scanner<Short>::is_additive;
    template <class Id>
    using Drawn = std::conditional_t<draws_cuts, DrawnCutGrower<Id, Scanner<Id>>, Nothing>;

    template <class Grower>
    void grow(std::optional<Grower>& grower, Row* rows, const Job& job, Nodes& out) {
        if (!grower) grower.emplace(problem_);
        grower->grow(rows, job, out);
    }

    const Problem& problem_;
    std::optional<ListGrower<Short, Scanner<Short>, ratio>> short_;
    std::optional<ListGrower<Long, Scanner<Long>, ratio>> long_;
    std::optional<Drawn<Short>> short_drawn_;
    std::optional<Drawn<Long>> long_drawn_;
};

/// The scanners as templates of the id alone.
template <ClassCriterion C>
struct ScannersOf {
    template <class Id>
    using TwoClasses = PairScanner<Id>;
    template <class Id>
    using TwoWeightedClasses = WeightedPairScanner<Id>;
    template <class Id>
    using ByCount = CountScanner<Id, C>;
    template <class Id>
    using ByWeight = WeightScanner<Id, C>;
};

/// Calls `use` with the scanner that fits a criterion of classes and a problem as its template argument.
template <ClassCriterion C, class Use>
auto with_class_scanner(const Problem& problem, Use use) {
    using S = ScannersOf<C>;
    const bool is_single = problem.targets.n_outputs == 1;
    const bool simple = !problem.is_weighted() && is_single;
    if constexpr (requires { requires C::is_linear_for_two; })
        if (is_single && problem.targets.n_classes[0] == 2) {
            if (simple) return use.template operator()<S::template TwoClasses>();
            return use.template operator()<S::template TwoWeightedClasses>();
        }
    if constexpr (Separable<C>)
        if (simple) return use.template operator()<S::template ByCount>();
    return use.template operator()<S::template ByWeight>();
}

template <ClassCriterion C>
std::unique_ptr<Searcher> make_class_searcher(const Problem& problem) {
    return with_class_scanner<C>(problem, [&]<template <class> class Scanner>() -> std::unique_ptr<Searcher> {
        return std::make_unique<ListSearcher<Scanner, by_ratio<C>>>(problem);
    });
}

template <ClassCriterion C>
std::unique_ptr<careful::ColumnSearcher> make_careful_class_searcher(const careful::Task& task) {
    return with_class_scanner<C>(task.problem, [&]<template <class> class Scanner>() {
        return careful::make_searcher<Scanner<careful::Id>>(task);
    });
}

template <class Measure, bool ratio>
std::unique_ptr<LargeSearcher> make_histogram_searcher(const Problem& problem, Pool& pool) {
    if (!Measure::fits(problem)) return nullptr;
    constexpr std::size_t affordable = std::size_t{256} << 20;  // bytes for the histograms of one node
    auto searcher = std::make_unique<HistogramSearcher<Measure, ratio>>(problem, pool);
    return searcher->histogram_size() * sizeof(Sum) <= affordable ? std::move(searcher) : nullptr;
}

template <SumCriterion C>
struct SumScannerOf {
    template <class Id>
    using Linear = SquareScanner<Id>;
    template <class Id>
    using General = SumScanner<Id, C>;
};

/// The same for numbers. The scanner of one number by squared error goes down from a node to its parts only.
template <SumCriterion C, class Use>
auto with_sum_scanner(const Problem& problem, bool goes_down, Use use) {
    if constexpr (requires { requires C::is_linear; })
        if (goes_down && !problem.is_weighted() && problem.targets.n_outputs == 1)
            return use.template operator()<SumScannerOf<C>::template Linear>();
    return use.template operator()<SumScannerOf<C>::template General>();
}

template <SumCriterion C>
std::unique_ptr<Searcher> make_sum_searcher(const Problem& problem) {
    return with_sum_scanner<C>(problem, true,
                               [&]<template <class> class Scanner>() -> std::unique_ptr<Searcher> {
                                   return std::make_unique<ListSearcher<Scanner, false>>(problem);
                               });
}

template <SumCriterion C>
std::unique_ptr<careful::ColumnSearcher> make_careful_sum_searcher(const careful::Task& task) {
    const bool goes_down = task.options.missing == careful::Missing::learn;
    return with_sum_scanner<C>(task.problem, goes_down, [&]<template <class> class Scanner>() {
        return careful::make_searcher<Scanner<careful::Id>>(task);
    });
}

/// The last line of every file in criteria/ makes one of these.
template <class C>
struct Enlist {
    Enlist() {
        if constexpr (ClassCriterion<C>)
            criteria().push_back(
                {.name = C::name,
                 .risk = static_cast<double (*)(Weights)>(&C::risk),
                 .by_ratio = by_ratio<C>,
                 .make_searcher = &make_class_searcher<C>,
                 .make_large_searcher = &make_histogram_searcher<ClassMeasure<C>, by_ratio<C>>,
                 .make_careful_searcher = &make_careful_class_searcher<C>});
        else if constexpr (requires { requires C::is_linear; })
            criteria().push_back({.name = C::name,
                                  .loss = &C::loss,
                                  .is_centred = C::is_centred,
                                  .sum_gain = &C::gain,
                                  .make_searcher = &make_sum_searcher<C>,
                                  .make_large_searcher = &make_histogram_searcher<SquareMeasure, false>,
                                  .make_careful_searcher = &make_careful_sum_searcher<C>});
        else if constexpr (SumCriterion<C>)
            criteria().push_back({.name = C::name,
                                  .loss = &C::loss,
                                  .is_centred = C::is_centred,
                                  .sum_gain = &C::gain,
                                  .make_searcher = &make_sum_searcher<C>,
                                  .make_careful_searcher = &make_careful_sum_searcher<C>});
        else
            criteria().push_back({.name = C::name,
                                  .loss = &C::loss,
                                  .by_median = true,
                                  .make_searcher = &C::make_searcher,
                                  .make_careful_searcher = &C::make_careful_searcher});
    }
};

}  // namespace treewright
