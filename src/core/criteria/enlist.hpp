// Makes a criterion of its formulas: with the scanners and measures that fit it. Included by the files of
// criteria/ alone, so that each scanner is compiled once.
#pragma once

#include <cstdint>
#include <memory>

#include "criteria/criterion.hpp"
#include "growers/measures.hpp"
#include "growers/split_search_of.hpp"
#include "scanners/general_scanners.hpp"
#include "scanners/linear_scanners.hpp"
#include "scanners/list_scanner.hpp"

namespace treewright {

template <class Id, class S>
std::unique_ptr<ListScanner<Id>> scanner_of(const Problem& problem) {
    return std::make_unique<ListScannerOf<Id, S>>(problem);
}

/// The scanner that fits a criterion of classes and a problem.
template <class Id, ClassCriterion C>
std::unique_ptr<ListScanner<Id>> make_class_scanner(const Problem& problem, bool) {
    const bool is_single = problem.targets.n_outputs == 1;
    const bool is_simple = !problem.is_weighted() && is_single;
    if constexpr (requires { requires C::is_linear_for_two; })
        if (is_single && problem.targets.n_classes[0] == 2)
            return is_simple ? scanner_of<Id, PairScanner<Id>>(problem)
                             : scanner_of<Id, WeightedPairScanner<Id>>(problem);
    if constexpr (Separable<C>)
        if (is_simple) return scanner_of<Id, CountScanner<Id, C>>(problem);
    return scanner_of<Id, WeightScanner<Id, C>>(problem);
}

/// The same for numbers. The scanner of one number by squared error goes down only.
template <class Id, SumCriterion C>
std::unique_ptr<ListScanner<Id>> make_sum_scanner(const Problem& problem, bool goes_down) {
    if constexpr (requires { requires C::is_linear; })
        if (goes_down && !problem.is_weighted() && problem.targets.n_outputs == 1)
            return scanner_of<Id, SquareScanner<Id>>(problem);
    return scanner_of<Id, SumScanner<Id, C>>(problem);
}

template <ClassCriterion C>
Criterion criterion_of() {
    return {.name = C::name,
            .risk = static_cast<double (*)(Weights)>(&C::risk),
            .make_short_scanner = &make_class_scanner<std::uint16_t, C>,
            .make_long_scanner = &make_class_scanner<std::uint32_t, C>,
            .make_split_search = &make_split_search<ClassMeasure<C>, ClassMeasure<C, Int128>>};
}

template <SumCriterion C>
Criterion criterion_of() {
    Criterion criterion{.name = C::name,
                        .loss = &C::loss,
                        .is_centred = C::is_centred,
                        .sum_gain = &C::gain,
                        .make_short_scanner = &make_sum_scanner<std::uint16_t, C>,
                        .make_long_scanner = &make_sum_scanner<std::uint32_t, C>};
    if constexpr (requires { requires C::is_linear; })
        criterion.make_split_search = &make_split_search<SquareMeasure<>, SquareMeasure<Int128>>;
    return criterion;
}

}  // namespace treewright
