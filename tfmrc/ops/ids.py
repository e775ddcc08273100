"""The special rows that every embedding table of tfmrc begins with.

Words follow them by falling frequency; see `tfmrc.text.Vocabulary`.
"""

PAD, UNK, BOS, EOS = 0, 1, 2, 3
NUM_SPECIAL = 4
