// The native module: one line per room.
#include <nanobind/nanobind.h>

namespace treewright {
void bind_growing(nanobind::module_& module);
void bind_constrained(nanobind::module_& module);
void bind_tree_view(nanobind::module_& module);
void bind_predicting(nanobind::module_& module);
void bind_summing(nanobind::module_& module);
void bind_pruning(nanobind::module_& module);
void bind_shapley(nanobind::module_& module);
void bind_neighbours(nanobind::module_& module);
void bind_born_again(nanobind::module_& module);
void bind_boosting(nanobind::module_& module);
void bind_hashing(nanobind::module_& module);
void bind_optimising(nanobind::module_& module);
}  // namespace treewright

NB_MODULE(_core, module) {
    nanobind::set_leak_warnings(false);  // a tree may live until the end of the process, and its view with it
    module.doc() = "The native core of treewright: arrays in, arrays out.";
    treewright::bind_growing(module);
    treewright::bind_constrained(module);
    treewright::bind_tree_view(module);
    treewright::bind_predicting(module);
    treewright::bind_summing(module);
    treewright::bind_pruning(module);
    treewright::bind_shapley(module);
    treewright::bind_neighbours(module);
    treewright::bind_born_again(module);
    treewright::bind_boosting(module);
    treewright::bind_hashing(module);
    treewright::bind_optimising(module);
}
