# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The speed-up formula, derived and tried
#
# You build the formula from one question about one round, and then throw a million rounds of dice at it.
# At the end you break its one assumption and see what that does.
#
# The letters are those of [the notation page](../reference/notation.md). Nothing in the lesson needs this page.

# %%
import sys
from pathlib import Path

here = Path.cwd()
root = next(folder for folder in (here, *here.parents) if (folder / "sim").is_dir())
sys.path.insert(0, str(root))

import numpy as np

import sim
from sim.montecarlo import accepted_counts, mean_tokens

# %% [markdown]
# ## How many drafts survive?
#
# A round drafts γ tokens. The check goes from left to right and stops at the first draft that fails. Suppose that each draft
# passes with the same chance α, whatever came before. Then the first k drafts all pass with this chance:
#
# ```math
# \Pr\left[\text{at least } k \text{ kept}\right] = \alpha^{k}
# ```
#
# A count that is 0, 1, 2 … has a handy property: its mean is the sum of the chances that it is at least 1, at least 2, and so on.
# Every round also yields one token that no draft had to earn, the correction or the bonus. So the mean number of tokens is
#
# ```math
# \tau = 1 + \sum_{k=1}^{\gamma} \alpha^{k} = \frac{1 - \alpha^{\gamma + 1}}{1 - \alpha}
# ```
#
# The second step is the sum of a geometric series. Let us see whether both sides agree.

# %%
def by_adding_up(alpha, gamma):
    return 1 + sum(alpha**k for k in range(1, gamma + 1))


pairs = [(alpha, gamma) for alpha in (0.1, 0.5, 0.8, 0.95) for gamma in (1, 4, 8, 16)]
worst = max(abs(by_adding_up(*pair) - sim.expected_tokens(*pair)) for pair in pairs)
print(f"largest difference over {len(pairs)} settings: {worst:.0e}")
print(f"alpha 0.8, gamma 4: {sim.expected_tokens(0.8, 4):.4f} tokens per pass")

# %% [markdown]
# ## A million rounds of dice
#
# A formula that agrees with itself proves little. So throw dice: for each draft of each round one random number below or above α.
# `cumprod` turns everything behind the first failure into failures, which is what the check does.

# %%
def rounds_of_dice(alpha, gamma, rounds, seed):
    dice = np.random.Generator(np.random.PCG64(seed)).random((rounds, gamma))
    return np.cumprod(dice < alpha, axis=1).sum(axis=1, dtype=np.uint8)


ROUNDS = 1_000_000
print("alpha  gamma   formula      dice   apart, in standard errors")
for alpha, gamma in ((0.5, 3), (0.8, 4), (0.8, 8), (0.95, 4)):
    formula = sim.expected_tokens(alpha, gamma)
    dice, error = mean_tokens(rounds_of_dice(alpha, gamma, ROUNDS, seed=1))
    apart = (dice - formula) / error
    print(f"{alpha:5}  {gamma:5}  {formula:8.4f}  {dice:8.4f}   {apart:+.1f}")

# %% [markdown]
# Chance alone puts most of them within two standard errors. A slip in the formula, say γ for γ + 1 in the exponent, would be dozens to hundreds away.
#
# There is a quicker way to draw the same counts. You need one random number a round, not γ of them: the count is the number of
# survival chances above it. `sim.montecarlo` draws that way, and so do the figures that draw millions.

# %%
survival = [0.8**k for k in range(1, 5)]
quick, error = mean_tokens(accepted_counts(survival, ROUNDS, seed=2))
print(f"one number a round: {quick:.4f} tokens per pass, standard error {error:.4f}")

# %% [markdown]
# ## From tokens to time
#
# Measure time in passes of the target. A round costs γ draft steps at c each, and one verifying pass at v. It yields τ tokens on
# average; plain decoding would have spent τ passes on them.
#
# ```math
# S = \frac{\tau}{\gamma c + v} = \frac{1 - \alpha^{\gamma + 1}}{(1 - \alpha)(\gamma c + v)}
# ```
#
# Note what is divided by what: *all* tokens by *all* the time. The mean of each round's own speed-up would be the same here, because
# every round costs the same. With rounds of different cost it would not be.

# %%
alpha, gamma, c = 0.8, 4, 0.17
counts = rounds_of_dice(alpha, gamma, ROUNDS, seed=3)
tokens = ROUNDS + counts.sum(dtype=np.int64)
print(f"dice:    {tokens / (ROUNDS * (gamma * c + 1)):.4f}")
print(f"formula: {sim.speedup(alpha, gamma, c):.4f}")
costly = sim.speedup(alpha, gamma, 0.5)
print(f"formula, with a draft that costs half a pass: {costly:.4f}")

# %% [markdown]
# ## Break the assumption
#
# “Each draft passes with the same chance” is not true of text: some stretches are easy and some are hard. Let half of the rounds have
# an accept rate of 0.95 and half of them 0.65. The mean is 0.8, as before.

# %%
easy = rounds_of_dice(0.95, gamma, ROUNDS // 2, seed=4)
hard = rounds_of_dice(0.65, gamma, ROUNDS // 2, seed=5)
mixed, error = mean_tokens(np.concatenate([easy, hard]))
exact = (sim.expected_tokens(0.95, gamma) + sim.expected_tokens(0.65, gamma)) / 2
print(f"dice {mixed:.4f} (standard error {error:.4f}), exact {exact:.4f}")
print(f"the formula at the mean rate says {sim.expected_tokens(0.8, gamma):.4f}")

# %% [markdown]
# More tokens than the formula says, from the same mean: powers of α bend upwards, so the easy stretches gain more than the hard ones
# lose. This is why the lesson also has [a formula that needs no such assumption](../reference/formulas.md#survival), and why you should
# measure how many drafts survive to each place instead of one rate.
#
# ## What to take along
#
# - τ is one, plus the chance that one draft survives, plus the chance that two do, and so on.
# - The speed-up is tokens over time, both summed over many rounds.
# - With one rate for all drafts the closed form is exact. With mixed rates it is too low.
