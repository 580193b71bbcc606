"""The rows and columns of a table, by a model or from its markup. documents/ reads tables of HTML."""
