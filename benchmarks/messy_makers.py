"""Ten kinds of messy tables, made with a seed: known functions with noise, in cells as people type them."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from benchmarks.messy_sheets import Messy, Sheet, dated, dollars, finished, german, places

YES_NO = {True: ("yes", "Yes", "Y", "TRUE", "x"), False: ("no", "No", "N", "FALSE", "-")}


def _sheet(seed: int, number: int, rows: int) -> Sheet:
    return Sheet(np.random.default_rng([seed, number]), rows)


def credit(seed: int) -> Messy:
    """Loans of a German bank: decimal commas, dots between thousands, dd.mm.yyyy, euros, `;`."""
    sheet = _sheet(seed, 1, 3000)
    random = sheet.random
    amount = np.exp(random.normal(8.3, 0.9, sheet.rows)).round(2)
    months = sheet.pick([12, 24, 36, 48, 60, 84]).astype(float)
    rate = random.uniform(1.5, 11.0, sheet.rows).round(2)
    income = np.exp(random.normal(7.7, 0.4, sheet.rows)).round(2)
    age = random.integers(19, 76, sheet.rows)
    day = sheet.days(datetime(2015, 1, 1), 1826)
    job = sheet.pick(["Angestellte", "Arbeiter", "Beamte", "Rentner", "Selbständig", "Student"])
    towns, town = places(random, 300), sheet.skewed(300)
    owns = random.random(sheet.rows) < 0.4
    crisis = day > (datetime(2018, 4, 1) - datetime(1970, 1, 1)).days
    share = amount / months / income
    score = 9.0 * (share - 0.12) + 0.5 * (rate - 6) + 2.2 * crisis - 1.2 * owns
    score += 1.5 * (job == "Selbständig") - 1.0 * (job == "Beamte") - 1.0 * (age > 60)
    sheet.junk("Kundennr", [f"K-{code:06d}" for code in random.permutation(900_000)[: sheet.rows]])
    sheet.add("Antragsdatum", day, dated("%d.%m.%Y"))
    sheet.add("Betrag", amount, lambda v: f"{german(v)} €")
    sheet.add("Laufzeit", months, lambda v: f"{v:.0f} Monate")
    sheet.add("Zinssatz", rate, lambda v: f"{german(v)} %")
    sheet.add("Einkommen", income, german, gaps=0.06, blank=("", "k.A."))
    sheet.add("Alter", age)
    sheet.add("Beruf", job, gaps=0.03)
    sheet.add("Ort", towns[town])
    sheet.spell("Eigentum", owns, {True: ("ja", "Ja", "JA"), False: ("nein", "Nein", "NEIN")})
    late = sheet.classes(1.6 * score)
    about = "decimal commas, euros, dd.mm.yyyy, ja/Ja/JA, separated by ;"
    return finished(sheet, "credit", about, "Ausfall", np.where(late, "ja", "nein").astype(object), ";")


def titanic(seed: int, *, leak: bool = False) -> Messy:
    """Passengers: names, tickets, cabins, ages as '12 yrs'; with a leak, the boat that saved them."""
    sheet = _sheet(seed, 2, 1309)
    random = sheet.random
    female = random.random(sheet.rows) < 0.36
    rank = sheet.pick([1, 2, 3], [0.25, 0.21, 0.54]).astype(int)
    age = np.clip(random.normal(40 - 5 * rank, 13), 1, 78).round()
    fare = np.exp(random.normal(4.6 - 0.75 * rank, 0.5)).round(2)
    deck = np.where(rank == 1, sheet.pick(list("ABCDE")), np.where(rank == 2, sheet.pick(list("DEF")), "G"))
    score = 2.9 * female - 0.9 * (rank == 3) + 0.9 * (rank == 1) + 2.2 * (age < 13) - 1.1
    score += 0.9 * (fare > 60) - 0.8 * female * (rank == 3)
    lived = sheet.classes(2.0 * score)
    _passengers(sheet, female, age)
    sheet.add("Class", np.array(["", "1st", "2nd", "3rd"], dtype=object)[rank])
    sheet.spell("Sex", female, {True: ("female", "F", "Female"), False: ("male", "M", "Male")})
    sheet.add("Age", age, lambda v: f"{v:.0f} yrs" if v % 3 == 0 else f"{v:.0f}", gaps=0.2, blank=("", "?"))
    codes = random.integers(2000, 400_000, sheet.rows)
    sheet.junk("Ticket", [_ticket(code, first) for code, first in zip(codes, rank == 1, strict=True)])
    sheet.add("Fare", fare, lambda v: f"£{v:.2f}", gaps=0.01)
    numbers = random.integers(1, 130, sheet.rows)
    cabins = np.array([f"{d}{k}" for d, k in zip(deck, numbers, strict=True)], dtype=object)
    sheet.add("Cabin", cabins, gaps=0.75, clean=deck.astype(object))
    sheet.add("Embarked", sheet.pick(["S", "C", "Q"], [0.7, 0.2, 0.1]), gaps=0.01)
    if leak:
        boats = np.where(lived, sheet.pick([*map(str, range(1, 17)), *"ABCD"]), "")
        sheet.add("Boat", boats.astype(object), gaps=0.04)
        found = np.where(~lived & (random.random(sheet.rows) < 0.15), numbers.astype(str), "")
        sheet.add("Body", found.astype(object))
    name = "titanic, boats" if leak else "titanic"
    about = "names, tickets, cabins, '12 yrs', £" + (
        ", and a column that gives the answer away" if leak else ""
    )
    return finished(sheet, name, about, "Survived", np.where(lived, "yes", "no").astype(object))


def _passengers(sheet: Sheet, female: np.ndarray, age: np.ndarray) -> None:
    """Names as in the passenger list, each once."""
    last = [word.replace(",", "") for word in places(sheet.random, sheet.rows)]
    given = sheet.pick(["Ada", "Ben", "Cora", "Dan", "Eve", "Finn", "Gus", "Hope", "Ike", "Joan"])
    title = np.where(female, np.where(age < 25, "Miss", "Mrs"), np.where(age < 13, "Master", "Mr"))
    names = [f"{a}, {t}. {g}" for a, t, g in zip(last, title, given, strict=True)]
    sheet.junk("Name", names)


def _ticket(code: int, first: bool) -> str:
    return f"PC {code}" if first else f"A/5 {code}" if code % 5 == 0 else str(code)


def clicks(seed: int) -> Messy:
    """Advertisements: thousands of cities, ISO timestamps, bids in dollars."""
    sheet = _sheet(seed, 3, 10_000)
    random = sheet.random
    cities = places(random, 4900)
    city = sheet.skewed(4900, 0.4)
    pull = random.normal(0, 0.9, 4900)
    minute = random.integers(28 * 24 * 60, size=sheet.rows)
    device = sheet.pick(["android", "desktop", "ios", "tablet"], [0.4, 0.3, 0.25, 0.05])
    bid = random.gamma(2.0, 0.4, sheet.rows).round(2)
    slot = sheet.pick(["banner", "footer", "sidebar", "story"])
    begun = minute > 17 * 24 * 60  # a campaign
    score = -1.6 + pull[city] + 1.6 * begun * (device != "desktop") + 0.9 * (slot == "story") + 0.8 * bid
    first = (datetime(2021, 3, 1) - datetime(1970, 1, 1)).days
    sheet.junk("request_id", [f"{code:08x}" for code in random.integers(2**32, size=sheet.rows)])
    sheet.add("timestamp", first + minute / 1440, dated("%Y-%m-%dT%H:%M:%SZ"))
    sheet.add("city", cities[city], gaps=0.02)
    sheet.add("device", device)
    sheet.add("slot", slot)
    sheet.add("bid", bid, dollars)
    clicked = np.where(sheet.classes(1.5 * score), "click", "none").astype(object)
    return finished(sheet, "clicks", "4,900 cities, ISO timestamps, $0.35", "outcome", clicked)


def churn(seed: int) -> Messy:
    """Customers: ids, phone numbers, dollars, per cents, 'yes' in many spellings."""
    sheet = _sheet(seed, 4, 3000)
    random = sheet.random
    fee = random.uniform(5, 120, sheet.rows).round(2)
    discount = sheet.pick([0, 0, 5, 10, 15, 20, 25]).astype(float)
    months = random.integers(1, 73, sheet.rows)
    calls = random.poisson(1.6, sheet.rows)
    pays = random.random(sheet.rows) < 0.55
    plan = sheet.pick(["Basic", "Family", "Premium", "Student"])
    day = sheet.days(datetime(2019, 1, 1), 1400)
    score = 0.035 * (fee * (1 - discount / 100) - 55) - 0.05 * (months - 24) + 1.0 * (calls >= 4)
    score += -1.5 * pays + 1.3 * (plan == "Basic") * (fee > 60)
    sheet.junk("customer_id", [f"{code}" for code in random.permutation(90_000)[: sheet.rows] + 10_000])
    sheet.junk("phone", [f"({a}) 555-{b:04d}" for a, b in random.integers((200, 0), (990, 9999), (3000, 2))])
    sheet.add("since", day, dated("%m/%d/%Y"))
    sheet.add("monthly_fee", fee, dollars, gaps=0.03, blank=("", "n/a"))
    sheet.add("discount", discount, lambda v: f"{v:.0f} %", gaps=0.05, blank=("none",))
    sheet.add("tenure", months, lambda v: f"{v} months" if v != 1 else "1 month")
    sheet.add("support_calls", calls, lambda v: "none" if v == 0 else f"{v}")
    sheet.spell("autopay", pays, YES_NO, gaps=0.02)
    sheet.add("plan", plan)
    left = np.where(sheet.classes(1.8 * score), "left", "stayed").astype(object)
    return finished(sheet, "churn", "ids, phone numbers, $7.58, 5 %, yes/Y/TRUE/x", "status", left)


def houses(seed: int) -> Messy:
    """Prices of houses: '1,234 sqft', 'c. 1920', lots in acres, many neighbourhoods."""
    sheet = _sheet(seed, 5, 2500)
    random = sheet.random
    area = np.exp(random.normal(7.4, 0.35, sheet.rows)).round()
    year = random.integers(1890, 2021, sheet.rows)
    lot = random.gamma(2.0, 0.15, sheet.rows).round(2) + 0.05
    names, where = places(random, 180), sheet.skewed(180, 0.5)
    worth = random.normal(0, 0.22, 180)
    beds = np.clip((area / 600).round() + random.integers(-1, 2, sheet.rows), 1, 7).astype(int)
    state = sheet.pick(["poor", "fair", "good", "excellent"], [0.1, 0.35, 0.4, 0.15])
    better = np.array([{"poor": -0.25, "fair": -0.08, "good": 0.05, "excellent": 0.2}[s] for s in state])
    garage = random.integers(0, 4, sheet.rows)
    log_price = 11.9 + 0.75 * (np.log(area) - 7.4) + 0.25 * ((year - 1955) / 65) + worth[where] + better
    log_price += 0.06 * garage + 0.3 * np.minimum(lot, 0.6) + random.normal(0, 0.1, sheet.rows)
    sheet.junk("listing", [f"MLS{code}" for code in random.permutation(800_000)[: sheet.rows] + 100_000])
    sheet.add("living_area", area, lambda v: f"{v:,.0f} sqft")
    sheet.add("built", year, lambda v: f"c. {v}" if v < 1920 else f"{v}", gaps=0.02, blank=("unknown",))
    sheet.add("lot", lot, lambda v: f"{v:.2f} acres", gaps=0.05)
    sheet.add("neighbourhood", names[where])
    sheet.add("bedrooms", beds)
    sheet.add("condition", state)
    sheet.add("garage", garage, lambda v: "none" if v == 0 else f"{v} cars" if v > 1 else "1 car")
    about = "1,234 sqft, c. 1920, 0.25 acres, 180 neighbourhoods"
    return finished(sheet, "houses", about, "price_k", np.exp(log_price) / 1000)


def medical(seed: int) -> Messy:
    """Laboratory values with units and '<0.5', 'n/a' in places; 3 % of the patients are septic."""
    sheet = _sheet(seed, 6, 6000)
    random = sheet.random
    crp = np.exp(random.normal(1.3, 1.4, sheet.rows)).round(1)
    creatinine = np.exp(random.normal(-0.05, 0.35, sheet.rows)).round(2)
    lactate = np.exp(random.normal(0.1, 0.5, sheet.rows)).round(1)
    age = random.integers(18, 97, sheet.rows)
    pulse = random.normal(82, 16, sheet.rows).round()
    ward = sheet.pick(["surgery", "medicine", "ICU", "maternity"], [0.35, 0.4, 0.1, 0.15])
    score = -9.0 + 3.2 * (crp > 25) + 3.2 * (lactate > 2.2) + 1.6 * (creatinine > 1.4) + 1.2 * (ward == "ICU")
    score += 0.045 * (pulse - 80) + 1.0 * (age > 70)
    blank = ("n/a", "", "-", "not done")
    sheet.junk("patient", [f"P{code:07d}" for code in random.permutation(9_000_000)[: sheet.rows]])
    sheet.add("admitted", sheet.days(datetime(2020, 1, 1), 700), dated("%d %b %Y"))
    sheet.add("age", age, lambda v: f"{v} y")
    low = np.where(crp < 0.5, 0.25, crp)
    sheet.add("CRP", crp, lambda v: "<0.5" if v < 0.5 else f"{v} mg/L", gaps=0.1, blank=blank, clean=low)
    sheet.add("creatinine", creatinine, lambda v: f"{v} mg/dL", gaps=0.1, blank=blank)
    above = np.where(lactate > 4, 5.0, lactate)
    sheet.add("lactate", lactate, lambda v: ">4.0" if v > 4 else f"{v}", gaps=0.15, blank=blank, clean=above)
    sheet.add("pulse", pulse, lambda v: f"{v:.0f}/min", gaps=0.05, blank=blank)
    sheet.add("ward", ward)
    septic = np.where(sheet.classes(3.0 * (score + 3.8)), "sepsis", "none").astype(object)
    return finished(sheet, "medical", "units, <0.5, n/a, a class of 3 %", "outcome", septic)


def weblog(seed: int) -> Messy:
    """Requests: user agents and paths with thousands of values, durations, bytes with commas. Is it a bot?"""
    sheet = _sheet(seed, 7, 6000)
    random = sheet.random
    family = sheet.pick(["Chrome", "Firefox", "Safari", "Edge", "python-requests", "curl"],
                        [0.42, 0.18, 0.16, 0.1, 0.08, 0.06])  # fmt: skip
    version = random.integers(60, 120, sheet.rows)
    system = sheet.pick(["Windows NT 10.0", "X11; Linux x86_64", "Macintosh", "Android 12", "iPhone"])
    build = random.integers(0, 60, sheet.rows)
    parts = zip(system, family, version, build, strict=True)
    agents = [f"Mozilla/5.0 ({s}) {f}/{v}.0.{b}" for s, f, v, b in parts]
    took = np.exp(random.normal(4.6, 1.0, sheet.rows)).round()
    size = np.exp(random.normal(9, 1.2, sheet.rows)).round()
    minute = random.integers(14 * 24 * 60, size=sheet.rows)
    status = sheet.pick([200, 301, 403, 404, 500], [0.7, 0.1, 0.05, 0.12, 0.03]).astype(int)
    tool = (family == "curl") | (family == "python-requests")
    score = -2.0 + 3.0 * tool + 2.0 * (took < 60) + 1.2 * (status == 404) - 1.1 * (size > 12_000)
    score += 1.5 * (minute > 9 * 24 * 60) * (version < 80)
    first = (datetime(2023, 5, 1) - datetime(1970, 1, 1)).days
    sheet.add("time", first + minute / 1440, dated("%Y-%m-%d %H:%M:%S"))
    sheet.junk("ip", [".".join(map(str, part)) for part in random.integers(1, 255, (sheet.rows, 4))])
    paths = [f"/shop/{a}/{b}" for a, b in random.integers((1, 1), (40, 90), (sheet.rows, 2))]
    sheet.junk("path", paths)
    sheet.add("status", status, clean=np.array([f"s{code}" for code in status], dtype=object))
    sheet.add("bytes", size, lambda v: f"{v:,.0f}", gaps=0.04, blank=("-",))
    sheet.add("duration", took, lambda v: f"{v:.0f} ms")
    sheet.add("agent", np.array(agents, dtype=object), clean=family)
    sheet.cleaned["version"] = version.astype(float)
    bot = np.where(sheet.classes(1.3 * score), "bot", "human").astype(object)
    return finished(sheet, "weblog", "thousands of user agents, '350 ms', 12,345", "visitor", bot)


def survey(seed: int) -> Messy:
    """Answers of people: Likert words, free text, age bands, a third of the cells not filled in."""
    sheet = _sheet(seed, 8, 2500)
    random = sheet.random
    likert = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    mood = random.normal(0, 1, sheet.rows)
    blank = ("", "n/a", "-", "prefer not to say")
    sheet.junk("comment", _comments(sheet))
    questions = {}
    for question, pull in (("easy", 0.9), ("fair_price", 0.6), ("support", 0.8), ("would_return", 1.1)):
        level = np.clip((pull * mood + random.normal(0, 0.9, sheet.rows)) * 0.9 + 2.5, 0, 4.99).astype(int)
        questions[question] = level
        words = {k: (word, word.capitalize(), word.upper()) for k, word in enumerate(likert)}
        sheet.spell(question, level, words, gaps=0.3)
        sheet.cleaned[question] = np.array(
            [np.nan if cell is None else float(cell) for cell in sheet.cleaned[question]]
        )
    hours = random.gamma(4.0, 3.0, sheet.rows).round(1)
    spent = np.exp(random.normal(4, 0.8, sheet.rows)).round(2)
    sheet.add("hours", hours, lambda v: f"{v} h", gaps=0.3, blank=blank)
    sheet.add("spent", spent, lambda v: f"{v:,.2f} USD", gaps=0.3, blank=blank)
    sheet.add("age_band", sheet.pick(["18-24", "25-34", "35-44", "45-54", "55+"]), gaps=0.3, blank=blank)
    score = 0.8 * (questions["would_return"] - 2) + 0.6 * (questions["easy"] - 2) + 0.09 * (hours - 12)
    score += 1.3 * (spent > 90) - 0.9 * (questions["support"] < 1) + random.logistic(size=sheet.rows) * 0.6
    level = np.searchsorted([-0.9, 0.9], score)
    answers = np.array(["detractor", "passive", "promoter"], dtype=object)[level]
    return finished(sheet, "survey", "free text, Likert words, 30 % of the cells empty", "group", answers)


def _comments(sheet: Sheet) -> list[str]:
    """Sentences that say nothing, hardly any twice; half of the people write none."""
    words = ["the", "app", "is", "really", "quite", "often", "not", "so", "good", "but", "I", "like", "use"]
    lengths = sheet.random.integers(0, 9, sheet.rows) * (sheet.random.random(sheet.rows) < 0.5)
    return [" ".join(sheet.random.choice(words, length)) for length in lengths]


def retail(seed: int) -> Messy:
    """Sales of products: codes, m/d/Y dates with seasons, prices in dollars; how many were sold?"""
    sheet = _sheet(seed, 9, 5000)
    random = sheet.random
    codes, product = random.permutation(90_000)[:800] + 10_000, sheet.skewed(800, 0.6)
    demand = random.normal(0, 0.5, 800)
    day = sheet.days(datetime(2022, 1, 1), 730)
    price = np.exp(random.normal(3, 0.6, sheet.rows)).round(2)
    promo = random.random(sheet.rows) < 0.25
    store = sheet.pick([f"Store #{k}" for k in range(1, 26)])
    season = np.isin(day // 30.44 % 12, (10, 11, 0))
    log_units = 3.0 + demand[product] - 0.6 * (np.log(price) - 3) + 0.7 * promo + 0.8 * season
    units = np.exp(log_units + random.normal(0, 0.25, sheet.rows))
    sheet.junk("receipt", [f"R{k:06d}" for k in range(1, sheet.rows + 1)])
    sheet.add("date", day, dated("%m/%d/%Y"))
    sheet.add("product", np.array([f"SKU-{codes[k]}" for k in product], dtype=object))
    sheet.add("store", store)
    sheet.add("unit_price", price, dollars, gaps=0.02)
    sheet.spell("promotion", promo, YES_NO)
    return finished(sheet, "retail", "product codes, m/d/Y dates, $12.99", "log_units", np.log(units))


def tickets(seed: int) -> Messy:
    """Support requests to one of twelve departments, by products and places of many values."""
    sheet = _sheet(seed, 10, 5000)
    random = sheet.random
    product, towns = sheet.skewed(400, 0.8), places(random, 900)
    town = sheet.skewed(900, 0.8)
    home = random.integers(12, size=400)  # the department of a product
    amount = np.exp(random.normal(5, 1.2, sheet.rows)).round(2)
    age = random.integers(0, 120, sheet.rows)
    channel = sheet.pick(["mail", "phone", "chat", "letter"], [0.4, 0.3, 0.25, 0.05])
    department = home[product].copy()
    department[amount > 900] = 3  # large sums go to one
    department[(age > 90) & (amount <= 900)] = 7
    department[(channel == "letter") & (age < 60)] = 10
    stray = random.random(sheet.rows) < 0.15
    department[stray] = random.integers(12, size=int(stray.sum()))
    sheet.junk("ticket", [f"#{code}" for code in random.permutation(800_000)[: sheet.rows]])
    sheet.add("product", np.array([f"model {k:03d}-{'ABC'[k % 3]}" for k in product], dtype=object))
    sheet.add("town", towns[town], gaps=0.05)
    sheet.add("amount", amount, lambda v: f"USD {v:,.2f}", gaps=0.03, blank=("", "unknown"))
    sheet.add("open_for", age, lambda v: f"{v} days" if v != 1 else "1 day")
    sheet.add("channel", channel)
    names = np.array([f"dept {chr(65 + k)}" for k in range(12)], dtype=object)
    about = "12 classes, 400 products, 900 towns, USD 1,200.00"
    return finished(sheet, "tickets", about, "department", names[department])
