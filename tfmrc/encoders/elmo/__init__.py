"""ELMo: the layers, the files of its authors, and modules of TensorFlow Hub.

`elmo` is made of `character_cnn` and `projected_lstm`, reads `characters`, and is loaded by
`weights`; `hub` runs a module as it is.
"""
