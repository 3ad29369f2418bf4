"""scikit-learn's test files that are about the classes that treewright has too."""

FILES = {
    "tree": "sklearn.tree.tests.test_tree",
    "monotonic_tree": "sklearn.tree.tests.test_monotonic_tree",
    "export": "sklearn.tree.tests.test_export",
    "forest": "sklearn.ensemble.tests.test_forest",
    "bagging": "sklearn.ensemble.tests.test_bagging",
    "weight_boosting": "sklearn.ensemble.tests.test_weight_boosting",
    "hist_gradient_boosting": "sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
    "hist_monotonic": "sklearn.ensemble._hist_gradient_boosting.tests.test_monotonic_constraints",
    "hist_warm_start": "sklearn.ensemble._hist_gradient_boosting.tests.test_warm_start",
    "hist_compare_lightgbm": "sklearn.ensemble._hist_gradient_boosting.tests.test_compare_lightgbm",
    "kd_tree": "sklearn.neighbors.tests.test_kd_tree",
    "neighbors_tree": "sklearn.neighbors.tests.test_neighbors_tree",
    "neighbors": "sklearn.neighbors.tests.test_neighbors",
    # inside scikit-learn's own estimators
    "ensemble_common": "sklearn.ensemble.tests.test_common",
    "voting": "sklearn.ensemble.tests.test_voting",
    "stacking": "sklearn.ensemble.tests.test_stacking",
    "from_model": "sklearn.feature_selection.tests.test_from_model",
    "metadata_routing": "sklearn.tests.test_metaestimators_metadata_routing",
}
