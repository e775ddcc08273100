"""SAN's layers for one example, word by word, in float64."""

import numpy as np

from tests.reference.basic import Array, sigmoid, softmax
from tests.reference.recurrent import lstm

Values = dict[str, Array]


def feed_forward(x: Array, v: Values) -> Array:
    """san-01: `W_2 ReLU(W_1 x + b_1) + b_2`."""
    inner = np.maximum(x @ v["inner/kernel"] + v["inner/bias"], 0.0)
    return inner @ v["outer/kernel"] + v["outer/bias"]


def aligned(passage: Array, question: Array, mask: Array, kernel: Array) -> Array:
    """san-03 and san-04: `sum_j gamma_ij g(q_j)`."""
    p, q = np.maximum(passage @ kernel, 0.0), np.maximum(question @ kernel, 0.0)
    result = np.zeros(p.shape)
    for i, word in enumerate(p):
        gamma = softmax(np.array([word @ other for other in q]), mask)
        for j, other in enumerate(q):
            result[i] += gamma[j] * other
    return result


def bidirectional(x: Array, mask: Array, v: Values) -> Array:
    """Outputs at real words; zeros elsewhere."""
    words = x[mask]
    sides = []
    for name in ("forward", "backward"):
        weights = [v[f"{name}/lstm_cell/{k}"] for k in ("kernel", "recurrent_kernel", "bias")]
        zeros = np.zeros(len(weights[1]))
        turned = words[::-1] if name == "backward" else words
        hidden = lstm(turned, *weights, zeros, zeros)[0][1:]
        sides.append(hidden[::-1] if name == "backward" else hidden)
    result = np.zeros((len(x), 2 * sides[0].shape[-1]))
    result[mask] = np.concatenate(sides, -1)
    return result


def maxout(x: Array) -> Array:
    return np.array([[max(w[2 * i : 2 * i + 2]) for i in range(len(w) // 2)] for w in x])


def memory(
    passage: Array, question: Array, passage_mask: Array, question_mask: Array, v: Values
) -> Array:
    """san-05 to san-08."""
    p = np.maximum(passage @ v["projection/kernel"], 0.0)
    q = np.maximum(question @ v["projection/kernel"], 0.0)
    aware = []
    for i, word in enumerate(passage):
        weights = softmax(np.array([p[i] @ other for other in q]), question_mask)
        aware.append(np.concatenate([word, weights @ question]))
    u = np.array(aware)
    rearranged = np.zeros(u.shape)
    for i in range(len(u)):
        others = np.array([real and k != i for k, real in enumerate(passage_mask)])
        rearranged[i] = softmax(np.array([u[i] @ other for other in u]), others) @ u
    lstm_weights = {k.removeprefix("lstm/"): a for k, a in v.items() if k.startswith("lstm/")}
    return bidirectional(np.concatenate([u, rearranged], -1), passage_mask, lstm_weights)


def gru(state: Array, x: Array, v: Values) -> Array:
    """san-11, with the gates in Keras' order (update, reset, candidate) and its two biases."""
    xz, xr, xh = np.split(x @ v["gru/kernel"] + v["gru/bias"][0], 3)
    hz, hr, hh = np.split(state @ v["gru/recurrent_kernel"] + v["gru/bias"][1], 3)
    z, r = sigmoid(xz + hz), sigmoid(xr + hr)
    return z * state + (1 - z) * np.tanh(xh + r * hh)


def steps(
    question: Array, m: Array, question_mask: Array, mask: Array, v: Values, count: int
) -> tuple[Array, Array, Array]:
    """san-09 to san-13: the states `[T, h]`, `P_begin` and `P_end` `[T, n]` of each step."""
    state = softmax(question @ v["summary/kernel"][:, 0], question_mask) @ question
    states, begins, ends = [], [], []
    for t in range(count):
        if t:
            beta = softmax(np.array([state @ v["attention/kernel"] @ w for w in m]), mask)
            state = gru(state, beta @ m, v)
        begin = softmax(np.array([state @ v["begin/kernel"] @ w for w in m]), mask)
        both = np.concatenate([state, begin @ m])
        ends.append(softmax(np.array([both @ v["end/kernel"] @ w for w in m]), mask))
        begins.append(begin)
        states.append(state)
    return np.array(states), np.array(begins), np.array(ends)


def stopping(states: Array, v: Values) -> Array:
    """The probability that ReasoNet's walk ends after each step."""
    result, left = [], 1.0
    for t, state in enumerate(states):
        gate = sigmoid(state @ v["termination/kernel"][:, 0] + v["termination/bias"][0])
        gate = 1.0 if t == len(states) - 1 else float(gate)
        result.append(left * gate)
        left *= 1.0 - gate
    return np.array(result)
