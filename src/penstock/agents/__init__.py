"""Tools for agents, over the Model Context Protocol: read files, pages and regions, search, measure photos.

Answers are short texts with how to get more, and pictures where asked. How a document is read belongs to
`passes`, how it is kept to `serve.service`.
"""
