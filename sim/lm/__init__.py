"""A real pair of tiny language models: weights, tokeniser, transformer with its cache, six drafts, speculation.

Why it exists: the lesson runs the real thing in the reader's page. NumPy only, the same in CPython and in Pyodide;
products go through `sim.kernel`, so that the page's WebAssembly kernel speeds it up. Imported by its own name, never by
`sim`. Reading order: pair.py (what there is), rounds.py (a round), drafts.py, model.py (the network), rows.py,
text.py, file.py.

It must not know pages, files' places, or who plugs the kernel in.
"""

from sim.lm.drafts import Draft, Target
from sim.lm.pair import DRAFTS, Fitted, Pair, load
from sim.lm.rounds import Candidate, Step, generate, recorded

__all__ = ["DRAFTS", "Candidate", "Draft", "Fitted", "Pair", "Step", "Target", "generate", "load", "recorded"]
