"""Encoders in Hugging Face's form, loaded and written without the package transformers.

`families` lists the kinds of encoders. `config` has their sizes, `weights` the names and shapes of
their variables, `tokenizer` their subwords, and `tokenizer_files` the files that describe these.
`folder` loads a folder.
"""
