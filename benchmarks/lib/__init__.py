"""What several scripts share.

`answer_lengths`, `clock`, `requests_in_flight` and `sdk_side` also run in the GLM-OCR SDK's environment,
which has no penstock: they import the standard library and the SDK alone.
"""
