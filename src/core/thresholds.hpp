// A number for every gap: any threshold in [low, high) cuts the training rows alike. One strictly between the
// two values also survives their rounding to float32, as other tools round them.
#pragma once

namespace treewright {

/// The multiple of the largest power of ten between low and high, the nearest to the middle if there are
/// several; `low` where they are neighbours.
double readable_threshold(double low, double high);

/// The middle of the gap, or `low` where rounding leaves nothing between.
double middle_threshold(double low, double high);

}  // namespace treewright
