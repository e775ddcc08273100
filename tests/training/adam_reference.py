"""The optimizer once more, in float64 NumPy, written from the papers' formulas."""

import numpy as np


class AdamReference:
    """Adam with decoupled decay, global clipping and a moving average over named arrays."""

    def __init__(self, weights, rate, *, decay, spared, clip, momentum, epsilon=1e-8):
        self.p = {k: np.asarray(v, np.float64) for k, v in weights.items()}
        self.m = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.v = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.average = None
        self.rate, self.decay, self.spared = rate, decay, spared
        self.clip, self.momentum, self.epsilon = clip, momentum, epsilon
        self.t = 0
        self.norms = []

    def update(self, gradients):
        rate = self.rate(self.t)
        self.t += 1
        norm = np.sqrt(sum(np.sum(np.square(g)) for g in gradients.values()))
        self.norms.append(norm)
        shrink = 1.0 if self.clip is None or norm <= self.clip else self.clip / norm
        for key, gradient in gradients.items():
            g = gradient * shrink
            if key not in self.spared:
                self.p[key] = self.p[key] * (1 - rate * self.decay)
            self.m[key] = 0.9 * self.m[key] + 0.1 * g
            self.v[key] = 0.999 * self.v[key] + 0.001 * g**2
            first = self.m[key] / (1 - 0.9**self.t)
            second = self.v[key] / (1 - 0.999**self.t)
            # epsilon is added to the root of the uncorrected second moment
            hat = self.epsilon / np.sqrt(1 - 0.999**self.t)
            self.p[key] = self.p[key] - rate * first / (np.sqrt(second) + hat)
        if self.average is None:
            self.average = dict(self.p)
        else:
            a = self.momentum
            self.average = {k: a * self.average[k] + (1 - a) * self.p[k] for k in self.p}
