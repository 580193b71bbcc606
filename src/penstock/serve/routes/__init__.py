"""The paths of the API, a class for each group. They ask, check and answer; the work is done elsewhere."""
