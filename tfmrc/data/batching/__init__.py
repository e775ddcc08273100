"""From examples to the batches that `model.fit` takes."""
