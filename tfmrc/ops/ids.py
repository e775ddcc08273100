"""Ids of the special words, the first rows of every embedding table.

The rows of the words follow; see `tfmrc.text.Vocabulary`.
"""

PAD, UNK, BOS, EOS = 0, 1, 2, 3
NUM_SPECIAL = 4
