"""Plain float64 NumPy of the printed equations, written from the papers and not from the library.

Nothing here imports tfmrc, Keras or TensorFlow. Loops are welcome: these functions are there to be
read beside the paper. A mask is True at real words; what an equation leaves open at padding is
zero. Sizes follow the papers: B examples, K passages, L passage words, J question words, T answer
words, d features, G generable words, S = J + K * L source words.
"""
