"""What verbs do once they are called. A verb's own file declares its options and loads nothing heavy."""
