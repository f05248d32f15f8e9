"""Offline measurements: runs on the machine you have and writes docs/data/measured/*.json.

Reading order: `__main__` (verbs), `run` (cells, resuming, shards), `suites/` (what is measured), `stack` (the decoder
pass), `numpy_backend` and `torch_backend` (how arrays are made and timed), `store` (the file). Nothing of the site
imports it, and it must not know a widget or a page.
"""
