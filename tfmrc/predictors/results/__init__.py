"""Results of predictors: spans, generated words, their sources, attention."""
