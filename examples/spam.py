"""The overfitting curve: the error on held-out rows of every tree from 1 leaf to purity, in one pass."""

from __future__ import annotations

from treewright import encode, grow
from treewright.datasets import load_spam

spam = load_spam()
test = spam.is_test
train = encode(spam.table(~test), spam.target[~test])
held_out = encode(spam.table(test), spam.target[test], schema=train.schema)

tree = grow(train)
training, test_error = tree.curve(train), tree.curve(held_out)
for splits in (0, 1, 2, 4, 8, 16, 32, 64, tree.n_leaves - 1):
    bar = "#" * round(200 * test_error[splits])
    print(f"{splits + 1:4} leaves: {training[splits]:6.2%} train, {test_error[splits]:6.2%} held out {bar}")
print(f"\nThe best on the held-out rows has {test_error.argmin() + 1} leaves: {test_error.min():.2%}")
