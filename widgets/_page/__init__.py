"""Markdown to HTML at build time. Never shipped to a reader's browser.

Read in this order: `extension` (what Markdown sees), `fences` (finding blocks), `block` (one block's YAML), `inline`
(numbers in prose), `glossary` (words as links), `figure` (the HTML around a view), `embed` (a page with one figure),
`problems` (what an author is told), `check` (the same without a site generator) and `hook` (the one file that knows
MkDocs). Nothing here knows what a widget computes.
"""
