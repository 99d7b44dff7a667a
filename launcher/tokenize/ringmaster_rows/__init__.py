"""The steps of ringmaster_tokenize.py.

    report    what goes to stdout: progress, warnings, the result or the one error
    sources   which files a dataset entry means, and the hash of what is in them     (standard library only)
    cache     where the result of a request lies                                      (standard library only)
    rows      reads rows, each with its place: file and line
    encoders  completion, alpaca and rows that are already tokens
    chat      chat_template: which tokens of a conversation are labels
    vocabulary  the tokenizer and the special tokens that the file asks for
    hub       what the Hugging Face hub's client says when something cannot be had
    tokens    tokens.safetensors, written row by row in bounded memory
    prepare   the whole of it
"""
