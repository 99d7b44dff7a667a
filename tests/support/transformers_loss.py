"""Computes the loss of a transformers model, summed over documents, for the oracle tests."""


def batch_of(documents):
    """Returns ids and labels, [documents, longest], padded after each document. Tokens of a causal model see nothing after themselves, so
    the padding does not change a document's results."""
    import torch

    longest = max(len(document["input_ids"]) for document in documents)
    return [torch.tensor([document[name] + [value] * (longest - len(document[name])) for document in documents])
            for name, value in (("input_ids", 0), ("labels", -100))]


def summed(logits, labels):
    """Returns the sum of the losses of all labels. The logits of a token predict the label of the next token."""
    import torch

    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=-100,
                                             reduction="sum")


def summed_loss(model, documents):
    import torch

    ids, labels = batch_of(documents)
    kinds = {"token_type_ids": torch.zeros_like(ids)} if model.config.model_type == "gemma3" else {}
    return summed(model(input_ids=ids, **kinds).logits, labels)


def count_labels(documents):
    return sum(label != -100 for document in documents for label in document["labels"][1:])


def learn(model, documents):
    """Adds the gradient of the mean loss over all labels to the model's gradients; returns the loss."""
    loss = summed_loss(model, documents) / max(1, count_labels(documents))
    loss.backward()
    return loss.item()
