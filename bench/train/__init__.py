"""The trainer of the lab's tiny pair: corpora, tokenizer, target, drafts, the files the page loads, and their card.

It must not be imported by the site, by `sim` or by `widgets`: the page reads only what `export`
wrote into `docs/data/models`. `README.md` beside this file has the commands in order. PyTorch is imported by the
commands that need it alone.
"""
