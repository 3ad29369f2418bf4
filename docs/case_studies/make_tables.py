"""Makes the two invented tables of the case studies: `python docs/case_studies/make_tables.py`.

Nobody's data is in them. Each row is drawn from the rules below, so that its true risk is known, and the
cells are written as the systems of a bank and of a hospital write them.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[2] / "src" / "treewright" / "datasets"
TOWNS = [
    "Aalborg",
    "Bergen",
    "Brno",
    "Ghent",
    "Graz",
    "Kassel",
    "Köln",
    "Łódź",
    "Lyon",
    "Malmö",
    "Porto",
    "Turin",
]
PURPOSES = ["car", "furniture", "education", "business", "holiday", "repairs", "medical"]
ACCOUNTS = ["none", "overdrawn", "below 500", "500 and more"]
Row = dict[str, object]


def loans(n_rows: int, seed: int) -> Iterator[tuple[Row, float]]:
    """Loan applications with the probability of a default."""
    random = np.random.default_rng(seed)
    for number in range(n_rows):
        age = int(random.integers(19, 74))
        income = int(round(900 + 5200 * random.beta(1.6, 3.4), -1))
        amount = int(round(500 + 17_500 * random.beta(1.2, 3.0), -2))
        months = int(random.choice([6, 12, 18, 24, 36, 48, 60]))
        account = str(random.choice(ACCOUNTS, p=[0.3, 0.27, 0.28, 0.15]))
        purpose = str(random.choice(PURPOSES, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.12, 0.08]))
        employed = int(min(random.geometric(0.16) - 1, age - 16))
        others = int(random.choice([0, 1, 2, 3], p=[0.55, 0.3, 0.11, 0.04]))
        burden = amount / months / income  # the share of the income that goes into the instalments
        score = -3.3 + 1.5 * (account == "overdrawn") - 1.1 * (account == "500 and more") + 0.5 * others
        score += 1.9 * (burden > 0.25) + 0.9 * (employed < 2) + 0.8 * (purpose in ("business", "holiday"))
        score += 1.0 * (age < 25 and others > 0) + 0.5 * (months >= 48)
        risk = 1 / (1 + np.exp(-score))
        defaults = bool(random.random() < risk)
        applied = date(2023, 1, 2) + timedelta(days=int(random.integers(0, 720)))
        yield (
            {
                "application": f"L-{204_311 + 7 * number}",
                "applied": applied.strftime("%d.%m.%Y"),
                "branch": str(random.choice(TOWNS)),
                "purpose": purpose,
                "amount": f"€ {amount:,}",
                "months": months,
                "income": "" if random.random() < 0.07 else f"{income:,}",
                "age": f"{age} yrs",
                "employed_years": "n/a" if random.random() < 0.05 else employed,
                "account": account,
                "other_loans": others,
                "reminders": int(
                    random.poisson(2.5 if defaults else 0.15)
                ),  # sent after the loan was granted
                "default": "yes" if defaults else "no",
            },
            float(risk),
        )


def chest_pain(n_rows: int, seed: int) -> Iterator[tuple[Row, float]]:
    """Patients with chest pain in an emergency department with the probability of a heart attack."""
    random = np.random.default_rng(seed)
    for number in range(n_rows):
        age = int(np.clip(random.normal(59, 16), 19, 96))
        sex = str(random.choice(["female", "male"]))
        pain = str(random.choice(["pressing", "stabbing", "burning", "none now"], p=[0.35, 0.3, 0.2, 0.15]))
        ecg = str(
            random.choice(
                ["normal", "unspecific", "ST depression", "ST elevation"], p=[0.62, 0.24, 0.1, 0.04]
            )
        )
        hours = round(float(random.gamma(1.6, 4.0)), 1)
        score = -5.2 + 0.035 * (age - 50) + 0.5 * (sex == "male") + 1.3 * (pain == "pressing")
        score += 2.0 * (ecg == "ST depression") + 4.2 * (ecg == "ST elevation") + 0.8 * (age > 70)
        attack = bool(random.random() < 1 / (1 + np.exp(-score)))
        # Troponin rises some hours after the attack begins, and is a little raised in the old.
        raised = attack and hours > 2.0
        troponin = float(np.exp(random.normal(4.6 if raised else 1.6 + 0.012 * age, 0.75)))
        risk = 1 / (1 + np.exp(-score))
        yield (
            {
                "visit": f"{2024_00001 + number}",
                "arrived": (date(2024, 1, 1) + timedelta(days=number // 5)).isoformat(),
                "age": age,
                "sex": sex,
                "pain": pain,
                "hours_since_onset": "" if random.random() < 0.12 else hours,
                "ecg": ecg,
                "systolic": f"{int(np.clip(random.normal(138, 22), 75, 230))} mmHg",
                "pulse": int(np.clip(random.normal(84, 17), 38, 170)),
                "smoker": str(random.choice(["yes", "no", "former", "unknown"], p=[0.22, 0.45, 0.25, 0.08])),
                "troponin": "" if random.random() < 0.09 else "<3" if troponin < 3 else f"{troponin:.0f}",
                "heart_attack": "yes" if attack else "no",
            },
            float(risk),
        )


def csv_text(rows: list[Row]) -> str:
    """The rows as the text of a CSV file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def main() -> None:
    """Write both tables beside the other built-in data."""
    for name, rows in (("loans", loans(3000, 1)), ("chest_pain", chest_pain(2500, 2))):
        text = csv_text([row for row, _ in rows])
        (FOLDER / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
