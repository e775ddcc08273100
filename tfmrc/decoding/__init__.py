"""Greedy search, beam search and sampling over a step function, independent of the model."""

from tfmrc.decoding.beam import beam_search
from tfmrc.decoding.constraints import Step
from tfmrc.decoding.greedy import greedy_search
from tfmrc.decoding.hypotheses import Hypotheses, length_penalised
from tfmrc.decoding.sampling import sample
