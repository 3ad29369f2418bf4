"""Fuzzing: random, seeded attacks on the doors through which strangers' data comes in."""
