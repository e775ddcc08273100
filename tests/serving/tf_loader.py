"""Runs a SavedModel with tensorflow and tensorflow-text alone; lines in and out as c_api_loader.py.

python tf_loader.py FOLDER [SIGNATURE] < requests.jsonl > answers.jsonl
"""

import json
import os
import sys


def bytes_of(value):
    """Nested lists of strings as bytes; lone surrogates are the bytes they stand for."""
    if isinstance(value, list):
        return [bytes_of(item) for item in value]
    return value.encode("utf-8", "surrogateescape")


def json_of(value):
    """An array's nested lists, bytes as strings."""
    if isinstance(value, list):
        return [json_of(item) for item in value]
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def main() -> None:
    """Answers requests line by line."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    sys.modules["tfmrc"] = None  # importing it fails
    import tensorflow as tf
    import tensorflow_text  # noqa: F401

    model = tf.saved_model.load(sys.argv[1])
    signature = model.signatures[(*sys.argv[2:], "serving_default")[0]]
    ranks = {n: spec.shape.rank for n, spec in signature.structured_input_signature[1].items()}
    for line in sys.stdin:
        request = {}
        for name, value in json.loads(line).items():
            shape = [len(value)] + [len(value[0]) if value else 0] * (ranks[name] - 1)
            request[name] = tf.constant(bytes_of(value), tf.string, shape)
        try:
            outputs = signature(**request)
            answer = {"outputs": {n: json_of(v.numpy().tolist()) for n, v in outputs.items()}}
        except tf.errors.OpError as error:
            answer = {"error": error.message, "code": error.error_code}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
