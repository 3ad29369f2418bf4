"""Simulations: every certificate, in every situation, fails no more often than it says.

Rows are drawn from small worlds whose distribution is known, so that the true error of any model is a sum
over all cells of the world and not an estimate. `python -m simulations` draws thousands of tables for each
situation and counts how often each certificate was below the truth; the tests draw some hundreds.
"""
