"""Forms of documents: a reader for each, by the ending of the file's name."""
