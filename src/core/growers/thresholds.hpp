// A number for every gap: any threshold in [low, high) cuts the training rows alike. One strictly between the
// two values also survives their rounding to float32, as other tools round them.
#pragma once

namespace treewright {

/// The multiple of the largest power of ten between low and high, the nearest to the middle if there are
/// several; `low` where they are neighbours. Between two numbers of single precision it is one that does not
/// round to the upper of them: 4.4 is not between 4.3 and 4.4 as float32 has them, though it is below the
/// latter, 4.400000095.
double readable_threshold(double low, double high);

/// The middle of the gap, or `low` where rounding leaves nothing between.
double middle_threshold(double low, double high);

}  // namespace treewright
