"""What people search in the documentation is found: sphinx's own search, on the pages as they are built."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FIRST = 3  # hits that a reader looks at

# What is typed, and the page that answers it; several where each would do.
WORDS = {
    "100 % accuracy": "faq",
    "1-SE": "selecting",
    "AdaBoost": "ensembles",
    "AUC": "plotting",
    "Boruta": "feature_selection",
    "C4.5": "classic",
    "C5.0": "coming_from/c45",
    "CART": "classic",
    "CHAID": "classic",
    "CSV": "command-line",
    "Excel": "exporting",
    "GPU": "faq",
    "GridSearchCV": "guide/tuning",
    "H2O": "coming_from/others",
    "ID3": "classic",
    "J48": "coming_from/c45",
    "KNN": "neighbours",
    "LaTeX": "plotting",
    "LightGBM": "coming_from/boosting",
    "MDL": "certifying",
    "NaN": "missing",
    "ONNX": "interop",
    "PMML": "interop",
    "R": "coming_from/r",
    "RMSE": "report",
    "ROC": "plotting",
    "SAS": "coming_from/others",
    "SHAP": "shapley",
    "SMOTE": "guide/imbalance_and_costs costs",
    "SPSS": "coming_from/others",
    "SQL": "exporting",
    "VC dimension": "theory certifying",
    "Weka": "coming_from/c45",
    "XGBoost": "coming_from/boosting",
    "accuracy": "report",
    "bagging": "forests",
    "baseline": "report",
    "big data": "guide/big_data",
    "boosting": "gradient_boosting",
    "bootstrap": "forests",
    "calibration": "guide/calibration",
    "categorical": "encoding",
    "ccp_alpha": "pruning",
    "chi-squared": "pruning",
    "citation": "faq",
    "class imbalance": "costs guide/imbalance_and_costs",
    "class weight": "costs guide/imbalance_and_costs",
    "class weights": "costs guide/imbalance_and_costs",
    "conditional inference": "classic",
    "confidence interval": "certifying",
    "confusion matrix": "plotting",
    "cost matrix": "costs",
    "counterfactual": "shapley",
    "cp table": "pruning",
    "credit scoring": "case_studies/credit",
    "cross validation": "selecting",
    "cross-validation": "selecting",
    "ctree": "coming_from/r classic",
    "data leakage": "advice",
    "dates": "encoding messy_tables",
    "decision boundary": "plotting",
    "deployment": "exporting guide/shipping",
    "distillation": "distilling",
    "duplicates": "advice",
    "drop-in replacement": "drop_in",
    "early stopping": "gradient_boosting",
    "entropy": "growing",
    "explain prediction": "explaining",
    "export SQL": "exporting",
    "export to SQL": "exporting",
    "extra trees": "forests",
    "feature importance": "explaining",
    "feature selection": "feature_selection",
    "float32": "growing",
    "gain ratio": "growing classic",
    "generalisation bound": "certifying",
    "generalization bound": "certifying",
    "gini": "growing",
    "gradient boosting": "gradient_boosting",
    "graphviz": "plotting",
    "high cardinality": "growing",
    "hyperparameter tuning": "guide/tuning",
    "imbalanced": "guide/imbalance_and_costs costs",
    "imputation": "missing",
    "information gain": "growing",
    "install": "quickstart",
    "interpretability": "guide/explaining explaining",
    "kd-tree": "neighbours",
    "leakage": "advice",
    "license": "faq",
    "licence": "faq",
    "load model": "saving",
    "max depth": "growing",
    "max_depth": "growing",
    "medical": "case_studies/chest_pain",
    "memory": "faq guide/big_data",
    "min_samples_leaf": "growing",
    "missing values": "missing",
    "monotonic": "constraints",
    "multiclass": "growing faq",
    "multi-output": "encoding",
    "multithreading": "faq",
    "n_jobs": "faq",
    "nearest neighbor": "neighbours",
    "notebook": "plotting",
    "nulls": "missing",
    "oblique": "oblique",
    "one-hot": "encoding",
    "optimal tree": "faq",
    "one-hot encoding": "encoding",
    "out of bag": "forests",
    "outliers": "faq",
    "overfitting": "selecting guide/choosing_the_size",
    "p-value": "classic",
    "pandas": "encoding",
    "parquet": "command-line",
    "partial dependence": "faq",
    "partykit": "coming_from/r",
    "permutation importance": "explaining",
    "pickle": "saving",
    "pipeline": "estimators",
    "plot tree": "plotting",
    "polars": "encoding",
    "precision": "plotting report",
    "predict_proba": "faq guide/calibration",
    "prediction interval": "forests",
    "probability": "guide/calibration faq",
    "pruning": "pruning",
    "quantile regression": "forests gradient_boosting",
    "random forest": "forests",
    "random_state": "faq growing",
    "ranger": "coming_from/r",
    "recall": "report plotting",
    "regression": "growing model_trees",
    "reproducible": "growing faq",
    "rpart": "coming_from/r",
    "rules": "rules",
    "sample weight": "encoding",
    "save model": "saving",
    "scikit-learn": "coming_from/scikit_learn",
    "sklearn": "coming_from/scikit_learn estimators",
    "sparse matrix": "encoding",
    "stacking": "ensembles",
    "standardisation": "faq",
    "feature scaling": "faq",
    "stratified": "certifying faq",
    "strings": "encoding faq",
    "surrogate": "missing",
    "target encoding": "growing encoding",
    "threshold": "growing guide/calibration",
    "time series": "faq",
    "train test split": "selecting",
    "underfitting": "selecting guide/choosing_the_size",
    "visualize tree": "plotting",
    "visualise": "plotting",
}


NOWHERE = "kwyjibo"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The pages that the search lists for each word, best first: the page's own script is asked."""
    for builder in ("sphinx", "furo", "myst_parser", "numpydoc"):
        pytest.importorskip(builder)
    driver = Path(pytest.importorskip("playwright").__file__).parent / "driver"
    node = shutil.which("node") or shutil.which("node", path=str(driver))  # playwright brings one along
    assert node
    built = tmp_path_factory.mktemp("docs")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", "-d", str(built / "doctrees")]
    done = subprocess.run([*build, str(ROOT / "docs"), str(built / "html")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = [*WORDS, NOWHERE]
    search = [node, str(Path(__file__).with_name("search.js")), str(built / "html")]
    asked = subprocess.run(search, input=json.dumps(words), capture_output=True, text=True, check=True)
    return dict(zip(words, json.loads(asked.stdout), strict=True))


@pytest.mark.parametrize("word", WORDS)
def test_the_page_is_among_the_first_hits(found: dict[str, list[str]], word: str) -> None:
    assert set(found[word][:FIRST]) & set(WORDS[word].split()), found[word][:10]


def test_what_is_nowhere_is_not_found(found: dict[str, list[str]]) -> None:
    assert found[NOWHERE] == []
