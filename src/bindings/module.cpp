// The native module: one line per room.
#include <nanobind/nanobind.h>

namespace treewright {
void bind_growing(nanobind::module_& module);
void bind_careful(nanobind::module_& module);
void bind_applying(nanobind::module_& module);
void bind_summing(nanobind::module_& module);
void bind_pruning(nanobind::module_& module);
void bind_attributing(nanobind::module_& module);
void bind_combining(nanobind::module_& module);
void bind_totalling(nanobind::module_& module);
void bind_neighbours(nanobind::module_& module);
void bind_born_again(nanobind::module_& module);
void bind_boosting(nanobind::module_& module);
void bind_hashing(nanobind::module_& module);
}  // namespace treewright

NB_MODULE(_core, module) {
    module.doc() = "The native core of treewright: arrays in, arrays out.";
    treewright::bind_growing(module);
    treewright::bind_careful(module);
    treewright::bind_applying(module);
    treewright::bind_summing(module);
    treewright::bind_pruning(module);
    treewright::bind_attributing(module);
    treewright::bind_combining(module);
    treewright::bind_totalling(module);
    treewright::bind_neighbours(module);
    treewright::bind_born_again(module);
    treewright::bind_boosting(module);
    treewright::bind_hashing(module);
}
