"""The steps of ringmaster_tokenize.py.

    report    writes stdout: progress, warnings, the result or the error
    sources   finds the files that a dataset entry means, and hashes their content   (standard library only)
    cache     keeps the results of requests                                            (standard library only)
    rows      reads rows, each with its place: file and line
    encoders  completion and rows that are already tokens
    instruct  rows of a prompt and a response: the alpaca family and the user's own fields
    talks     rows of segments or turns without a template
    sharegpt  conversations in FastChat's forms
    streams   pretraining_dataset
    chat      chat_template; chat_template, chat_turns, chat_spans and chat_labels are its steps
    preference_texts, preference_tokens  prompts with answers, under `rl`
    rollouts  token ids with advantages, under `rl: grpo`
    rollout_folder  rollouts from files that arrive while the run trains
    kinds     chooses the encoder of a type of dataset, and says why some types are refused
    order     merges the rows of several datasets in axolotl's order
    templates chat templates and prompts from axolotl
    vocabulary  the tokenizer and the special tokens that the file asks for
    growth    tokens added to the tokenizer, and rows to the model's embeddings
    hub       turns errors of the Hugging Face hub's client into one Failure
    tokens    tokens.safetensors, written row by row in bounded memory
    prepare   runs all steps
"""
