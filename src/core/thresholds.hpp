// A number for every gap: any threshold in [low, high) cuts the training rows alike.
#pragma once

namespace treewright {

/// The multiple of the largest power of ten in [low, high), the nearest to the middle if there are several.
double readable_threshold(double low, double high);

/// The middle of the gap, or `low` where rounding leaves nothing between.
double middle_threshold(double low, double high);

}  // namespace treewright
