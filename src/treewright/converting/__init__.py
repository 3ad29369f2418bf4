"""Other libraries' trees as ours, ours as theirs: scikit-learn, LightGBM, XGBoost, shap."""

from __future__ import annotations

from treewright.converting.lightgbm import from_lightgbm
from treewright.converting.scikit_learn import from_sklearn, to_sklearn
from treewright.converting.shap import to_shap
from treewright.converting.xgboost import from_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost", "to_shap", "to_sklearn"]
