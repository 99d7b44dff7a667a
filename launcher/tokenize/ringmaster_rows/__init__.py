"""The steps of ringmaster_tokenize.py.

    report    what goes to stdout: progress, warnings, the result or the one error
    sources   which files a dataset entry means, and the hash of what is in them     (standard library only)
    cache     where the result of a request lies                                      (standard library only)
    rows      reads rows, each with its place: file and line
    encoders  completion and rows that are already tokens
    instruct  rows of a prompt and a response: the alpaca family and a person's own fields
    talks     rows of segments or turns without a template
    sharegpt  conversations in FastChat's forms
    streams   pretraining_dataset
    chat      chat_template; chat_template, chat_turns, chat_spans and chat_labels are its steps
    kinds     which encoder a type of dataset has, and why some types are refused
    order     in which order several datasets are merged
    templates chat templates and prompts, which are axolotl's
    vocabulary  the tokenizer and the special tokens that the file asks for
    growth    tokens added to the tokenizer, and rows to the model's embeddings
    hub       what the Hugging Face hub's client says when something cannot be had
    tokens    tokens.safetensors, written row by row in bounded memory
    prepare   the whole of it
"""
