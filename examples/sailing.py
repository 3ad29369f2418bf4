"""Numbers, categories, dates and missing values in one table, with scikit-learn's interface."""

from __future__ import annotations

from datetime import date

from treewright import DecisionTreeClassifier

table = {
    "wind": [3.0, 12.5, 5.0, 14.0, 9.0, None, 7.5, 21.0],
    "sky": ["clear", "clear", "rain", "rain", "clouds", "rain", None, "clear"],
    "day": [date(2026, 5, day) for day in (1, 2, 3, 9, 10, 16, 17, 23)],
}
decisions = ["sail", "stay", "sail", "stay", "sail", "stay", "sail", "stay"]

model = DecisionTreeClassifier(criterion="entropy").fit(table, decisions)
print(model.model_)

tomorrow = {
    "wind": [4.0],
    "sky": ["fog"],
    "day": [date(2026, 5, 24)],
}  # fog is an unseen category, not a missing value
print("tomorrow:", model.predict(tomorrow)[0], model.predict_proba(tomorrow)[0])
