"""Looking ahead: boards kept as codes of lines, what a line is worth, and the searches that stand on both."""
