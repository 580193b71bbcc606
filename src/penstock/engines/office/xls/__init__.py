"""XLS as Excel wrote it from 1997 to 2003. Of charts the words are read, of formulas what they show."""
