// Absolute error: Σ w·|y − median|.
#include <cmath>

#include "criteria/criterion.hpp"
#include "scanners/list_scanner.hpp"
#include "scanners/median_scanner.hpp"

namespace treewright {

namespace {

double loss(double y, double value) { return std::abs(y - value); }

template <class Id>
std::unique_ptr<ListScanner<Id>> make_scanner(const Problem& problem, bool) {
    return std::make_unique<ListScannerOf<Id, MedianScanner<Id>>>(problem);
}

}  // namespace

static const Enlist enlisted({.name = "absolute_error",
                              .loss = &loss,
                              .by_median = true,
                              .make_short_scanner = &make_scanner<std::uint16_t>,
                              .make_long_scanner = &make_scanner<std::uint32_t>});

}  // namespace treewright
