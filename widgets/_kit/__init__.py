"""What a widget author imports: parameters, views, charts, token strips, text.

Nothing here knows MkDocs, files, or the browser, and nothing imports beyond the standard library: the same bytes come
out at build time and in the reader's browser.
"""
