"""Other libraries' trees as ours, ours as theirs: scikit-learn, LightGBM, XGBoost, shap."""

from __future__ import annotations

from treewright.converting.from_lightgbm import from_lightgbm
from treewright.converting.from_sklearn import from_sklearn
from treewright.converting.from_xgboost import from_xgboost
from treewright.converting.to_shap import to_shap
from treewright.converting.to_sklearn import to_sklearn

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost", "to_shap", "to_sklearn"]
