"""Did you mean: the known name that a misspelt one, or another library's word, stands for."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from opcode import opmap
from typing import Any, TypeVar, cast

from treewright._text import LONGEST_NAME, label_text, quote

_T = TypeVar("_T", bound=Callable[..., Any])
_MOST_NAMED = 20  # known names that a message lists
_LONG_WORD = 8  # characters from which on a word of another library may be misspelt, too

# What other libraries, textbooks and questions on the web call it: our names, of which a message offers those
# that are known where the word was used. Case, "_", "-", "." and blanks do not count.
_SYNONYMS = {
    # parameters: rpart, ranger, randomForest, C5.0, scikit-learn, XGBoost, LightGBM, CatBoost
    "minsplit": "min_samples_split",
    "mincases": "min_samples_leaf min_objs",
    "minbucket": "min_samples_leaf",
    "minnodesize nodesize mindatainleaf minchildsamples minleafsize minrowsleaf": "min_samples_leaf",
    "minchildweight minsumhessianinleaf": "min_weight_fraction_leaf min_samples_leaf",
    "minweightleaf": "min_weight_fraction_leaf",
    "minimpuritysplit minsplitgain mingaintosplit mingain gamma": "min_impurity_decrease",
    "cp complexity complexityparameter": "ccp_alpha rule",
    "ccpalpha": "pruning alpha",
    "prune prunemethod postpruning": "pruning",
    "cf confidencefactor": "confidence",
    "confidence confidencelevel conflevel": "delta",
    "maxdepth depth treedepth height maxheight": "max_depth",
    "numleaves maxleaves nleaves maxnodes": "max_leaf_nodes leaves",
    "ntree numtrees ntrees trees": "n_estimators max_iter",
    "nestimators": "max_iter",
    "maxiter": "n_estimators",
    "rounds nrounds numboostround numround": "max_iter n_estimators",
    "iterations niterations numiterations niter": "max_iter n_estimators",
    "ncolumns ncols nfeatures": "n_features_to_select",
    "nboot nbootstrap bootstraps": "n_bootstraps",
    "eta shrinkage": "learning_rate",
    "mtry colsamplebytree colsamplebynode featurefraction rsm": "max_features",
    "subsample baggingfraction samplefraction sampsize": "max_samples",
    "replace": "bootstrap",
    "lambda reglambda lambdal2 l2leafreg": "l2_regularization",
    "maxbin bordercount": "max_bins",
    "earlystoppingrounds earlystoppinground patience": "n_iter_no_change early_stopping",
    "objective": "loss criterion",
    "impurity splitrule splitcriterion": "criterion",
    "baseestimator": "estimator",
    "seed randomseed": "random_state",
    "nthread nthreads numthreads threads threadcount numcores": "n_jobs",
    "monotoneconstraints monotonecst monotonicconstraints": "monotonic_cst",
    "interactionconstraints": "interaction_cst",
    "lossmatrix costmatrix parms": "costs",
    "prior": "priors costs",
    "scaleposweight isunbalance classweights": "class_weight",
    "categoricalfeature categoricalfeatures catfeatures categorical dtypes": "kinds",
    "sampleweights weight weights": "sample_weight",
    "sampleweight": "weight weights",
    "usesurrogate maxsurrogate surrogates": "missing n_surrogates",
    "mincriterion": "selection",
    "nneighbours neighbours k": "n_neighbors",
    "nfolds nsplits xval": "cv n_folds",
    "alphalevel significancelevel siglevel": "significance alpha",
    "alpha": "ccp_alpha significance delta",
    "feat featurenames names": "columns",
    "x": "data table rows",
    "y label labels response outcome": "target",
    "xtest testdata": "test",
    "shares": "test_size validation_fraction",
    "testshare testfraction testratio holdoutfraction": "test_size",
    "validationshare validationsize valsize": "validation_fraction",
    "shuffles nrepeat repeats": "n_repeats",
    # kinds of columns
    "date datetime timestamp": "time",
    "float int integer double numeric continuous": "number",
    "string str object factor enum categorical nominal": "category",
    # criteria, losses, methods of pruning
    "informationgain infogain shannon": "entropy",
    "deviance crossentropy binarycrossentropy binarylogloss logistic": "log_loss",
    "mse l2 friedmanmse variance anova rmse": "squared_error",
    "mae l1": "absolute_error",
    "misclassification misclassificationerror 01": "error",
    "gainratio c45": "gain_ratio",
    "kearnsmansour": "sqrt",
    "ccp weakestlink costcomplexitypruning minimalcostcomplexity": "cost_complexity",
    "rep": "reduced_error",
    "ebp errorbased errorbasedpruning pep": "pessimistic",
    "mep minimumerror": "minimum_errors",
    "chisquare chi2 chaid": "chi_squared",
    "crossvalidation cv kfold xval": "folds",
    "holdout validationset": "held_out",
    "1se onestandarderror": "1-SE",
    # formats of export
    "graphviz": "dot",
    "tikz tex": "latex",
    "xlsx xls": "excel",
    "js typescript": "javascript",
    "py": "python",
    "cpp c++": "c",
    "txt": "text",
    "postgresql postgres mysql sqlite duckdb bigquery": "sql",
    # scores of scikit-learn
    "auc aucroc auroc rocaucscore": "roc_auc",
    "acc accuracyscore": "accuracy",
    "balancedaccuracyscore bac": "balanced_accuracy",
    "logloss crossentropy": "neg_log_loss",
    "mse meansquarederror": "neg_mean_squared_error",
    "rmse rootmeansquarederror": "neg_root_mean_squared_error",
    "mae meanabsoluteerror": "neg_mean_absolute_error",
    "brier brierscore": "neg_brier_score",
    "f1score": "f1",
    "r2score rsquared": "r2",
    # tasks
    "classification classifier": "classes",
    "regression regressor": "numbers",
    # columns of a figure, and functions
    "rpart tree cart": "CARTClassifier CARTRegressor",
    "decisiontree treeclassifier": "DecisionTreeClassifier DecisionTreeRegressor",
    "treeregressor": "DecisionTreeRegressor",
    "ctree conditionalinferencetree": "ConditionalInference test",
    "c50 j48 c45 quinlan": "C45Classifier",
    "chaid": "CHAIDClassifier",
    "id3": "ID3Classifier",
    "randomforest ranger": "RandomForestClassifier RandomForestRegressor",
    "extratrees extremelyrandomizedtrees": "ExtraTreesClassifier ExtraTreesRegressor",
    "xgbclassifier lgbmclassifier catboostclassifier gradientboostingclassifier": (
        "HistGradientBoostingClassifier"
    ),
    "xgbregressor lgbmregressor catboostregressor gradientboostingregressor": "HistGradientBoostingRegressor",
    "gradientboosting gbm xgboost lightgbm catboost gbdt": (
        "HistGradientBoostingClassifier HistGradientBoostingRegressor"
    ),
    "adaboost adaboostm1 samme": "AdaBoostClassifier AdaBoostRegressor",
    "bagging": "BaggingClassifier BaggingRegressor",
    "knn kneighbors nearestneighbors": "KNeighborsClassifier KNeighborsRegressor",
    "boruta rfe rfecv": "ShadowSelector TreeSelector",
    "sequentialfeatureselector selectfrommodel": "TreeSelector",
    "selectkbest mutualinfoclassif": "SplitFilter",
    "decisionlist ripper rulefit skoperules rulelist": "RuleListClassifier RuleList",
    "balltree": "KDTree",
    "costcomplexitypruningpath pruningpath": "prune PruningPath",
    "exporttext exportgraphviz exporttree": "export plot_tree",
    "permutationimportance featureimportances featureimportance varimp varimpplot": "importance",
    "shap treeexplainer shapvalues shapley": "shapley_values",
    "dice counterfactuals": "counterfactual",
    "bootstrapstability": "stability",
    "kfold stratifiedkfold crossvalscore": "folds",
    "trainvalidsplit traintestvalidsplit initialsplit": "train_test_split",
    "dump joblib pickle savemodel": "save",
    "loadmodel": "load",
    "readcsv frompandas fromdataframe dataframe": "encode",
    "fromlgbm": "from_lightgbm",
    "fromxgb": "from_xgboost",
    "fromscikitlearn": "from_sklearn",
    "validationcurve learningcurve": "overfitting_curve",
    "confidenceinterval errorbound bound": "certify",
    "profile profilereport describe": "advise",
    # pictures
    "plotcp plotcostcomplexity plotpruning plotccpalphas": "plot_pruning_path",
    "plotlearningcurve plotvalidationcurve plottraincurve": "plot_overfitting_curve",
    "plotfeatureimportance plotfeatureimportances plotvarimp plotpermutationimportance": "plot_importance",
    "plotoob plotooberror plotforest": "plot_out_of_bag",
    "plotdecisionboundary plotpartition plotsurface": "plot_decision_regions",
    "plotroccurve rocauc": "plot_roc",
    "plotprcurve plotprecisionrecallcurve": "plot_precision_recall",
    "plotreliability plotcalibrationcurve calibrationcurve calibrationdisplay": "plot_calibration",
    "plotconfusion confusionmatrix confusionmatrixdisplay": "plot_confusion_matrix",
    "plotshap waterfall beeswarm summaryplot plotwaterfall plotbeeswarm": "plot_shapley",
    "rpartplot drawtree": "plot_tree",
    "plotmethods": "plot_comparison",
}


def _key(name: object) -> str:
    """What counts of a name where names are compared."""
    text = str(name)[:LONGEST_NAME].casefold()
    return text.translate(_IGNORED) or text


_IMPORT_FROM = opmap["IMPORT_FROM"]
_IGNORED = str.maketrans("", "", "_-. ")
_OURS: dict[str, list[str]] = {}
for _words, _names in _SYNONYMS.items():
    for _word in _words.split():
        _OURS.setdefault(_word, []).extend(_names.split())


def suggestions(name: object, known: Iterable[Hashable]) -> list[Any]:
    """The known names that an unknown one may stand for, most often one or none.

    A difference of case or "_" comes first, then the words of other libraries, then typing errors in either.

    >>> known = ["max_depth", "max_leaf_nodes", "n_jobs"]
    >>> suggestions("max_dept", known), suggestions("num_leaves", known)
    (['max_depth'], ['max_leaf_nodes'])
    >>> suggestions("1", [0, 1]), suggestions("zebra", ["x", "y"])
    ([1], [])
    """
    by_key: dict[str, Any] = {}
    for each in known:
        by_key.setdefault(_key(each), each)
    key = _key(name)
    if key in by_key:
        return [by_key[key]]
    if ours := _ours(key, by_key):
        return ours
    words = [word for word in _OURS if len(word) >= _LONG_WORD and word not in by_key and _ours(word, by_key)]
    near = difflib.get_close_matches(key, [*by_key, *words], 1)
    return [found for each in near for found in ([by_key[each]] if each in by_key else _ours(each, by_key))]


def _ours(word: str, by_key: Mapping[str, Any]) -> list[Any]:
    """The known names that a word of another library stands for."""
    return list(dict.fromkeys(by_key[_key(each)] for each in _OURS.get(word, ()) if _key(each) in by_key))


def closest(name: object, known: Iterable[Hashable]) -> Any:
    """The known name that an unknown one most probably stands for; None if there is none."""
    return next(iter(suggestions(name, known)), None)


def did_you_mean(name: object, known: Iterable[Hashable]) -> str:
    """The end of a message about a name that is unknown: what it may stand for, or nothing.

    >>> did_you_mean("ginni", ["gini", "entropy"]), did_you_mean("zebra", ["gini", "entropy"])
    ("; did you mean 'gini'?", '')
    """
    words = " or ".join(map(_quoted, suggestions(name, known)))
    return f"; did you mean {words}?" if words else ""


def _quoted(name: Hashable) -> str:
    return quote(str(name)) if isinstance(name, str) else repr(name)


def choices_text(name: object, known: Iterable[Hashable], *, in_quotes: bool = False) -> str:
    """The names that are known, of very many the first ones, and the one that an unknown name stands for.

    The names of columns and classes, which the user has chosen, are in quotes.

    >>> choices_text("pyton", ["c", "python"]), choices_text("papyrus", ["c", "python"])
    ("c, python; did you mean 'python'?", 'c, python')
    """
    names = list(known)
    more = [f"… ({len(names):,} in all)"] if len(names) > _MOST_NAMED else []
    words = map(_quoted if in_quotes else label_text, names[:_MOST_NAMED])
    return ", ".join([*words, *more]) + did_you_mean(name, names)


def unknown_attribute(module: str, name: str, known: Iterable[str]) -> Exception:
    """The error of a module's `__getattr__`: of ``from module import name``, too, whose own error would drop
    the hint.

    >>> raise unknown_attribute("treewright", "forest", ["Forest", "grow"])
    Traceback (most recent call last):
    AttributeError: module 'treewright' has no attribute 'forest'; did you mean 'Forest'?
    """
    public = [each for each in known if not each.startswith("_")]
    hint = "" if name.startswith("_") else did_you_mean(name, public)
    caller = sys._getframe(2)
    if hint and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:
        return ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=name)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def check_names(owner: str, known: Iterable[str], given: Iterable[str]) -> None:
    """TypeError about the first name that is not known, with the one that it may stand for."""
    names = tuple(known)
    for name in given:
        if name not in names:
            close = did_you_mean(name, names) or f"; the parameters are {', '.join(names)}"
            raise TypeError(f"{owner} has no parameter {name!r}{close}")


def checked_keywords(function: _T, also: Iterable[str] = ()) -> _T:
    """Decorate a function: a misspelt keyword argument is an error that names the one that was meant.

    A function with ``**options`` is left to whatever it passes them on to, unless `also` names them; see
    `also_takes`.

    >>> @checked_keywords
    ... def area(*, width: float, height: float) -> float:
    ...     return width * height
    >>> area(width=2, hieght=3)
    Traceback (most recent call last):
    TypeError: area has no parameter 'hieght'; did you mean 'height'?
    """
    if isinstance(function, type):  # a class stays one
        function.__init__ = checked_keywords(function.__init__, also)  # type: ignore[misc]
        return function
    parameters = inspect.signature(function).parameters.values()
    if not also and any(each.kind is each.VAR_KEYWORD for each in parameters):
        return function
    hidden = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_KEYWORD
    names = dict.fromkeys([*(each.name for each in parameters if each.kind not in hidden), *also])
    owner = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(function)
    def checked(*arguments: Any, **given: Any) -> Any:
        if not given.keys() <= names.keys():
            public = [name for name in given if not name.startswith("_")]  # others go from package to package
            check_names(owner, [name for name in names if name != "self"], public)
        return function(*arguments, **given)

    return cast("_T", checked)


def also_takes(names: Iterable[str]) -> Callable[[_T], _T]:
    """Decorate a function with ``**options``: these are their names."""

    def decorate(function: _T) -> _T:
        return checked_keywords(function, names)

    return decorate
