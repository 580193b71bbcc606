"""The HTTP service and its web page: shows a run's documents, searches them, and reads documents it is sent.

How a document is read belongs to `passes`; this package only receives, queues and answers.
"""
