"""Words of texts, by graph operations.

`tokenizer` splits texts by the rules in `boundaries`, and `detokenize` joins words again. Of the
tokens, `sentences` finds the sentences, `matching` equal words, `stems` their stems, `tags` those
of a tagger, `character_ids` the characters of models, and `answer_candidates` what to ask about.
`counting` counts words for a vocabulary; `unspaced` lists scripts without spaces.
"""
