"""DOC, PPT, the XLS of before 1997 and MSG, by packages and by the files' own records."""
