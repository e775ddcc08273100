"""Schedules, the optimizer, moving averages, resuming, strategies and ensembles."""

from tfmrc.training import replicas
from tfmrc.training.averages import AveragedWeights, averaged_weights, load_weights, save_weights
from tfmrc.training.checkpoint import Checkpoint
from tfmrc.training.csv_log import CsvLog
from tfmrc.training.dual import daanet
from tfmrc.training.ensemble import vote, vote_all
from tfmrc.training.halving import Halving
from tfmrc.training.keep_best import KeepBest
from tfmrc.training.log_warmup import LogWarmup
from tfmrc.training.loss_scale import LossScale
from tfmrc.training.optimizer import AdamW
from tfmrc.training.question_generation import maxout_pointer_qg
from tfmrc.training.recipe import masque
from tfmrc.training.san_recipe import san
from tfmrc.training.schedule import WarmupCosine
from tfmrc.training.sgd import SGD
from tfmrc.training.standard_callbacks import callbacks
from tfmrc.training.strategies import check_batch_size, mirrored

__all__ = [
    "AdamW",
    "AveragedWeights",
    "Checkpoint",
    "CsvLog",
    "Halving",
    "KeepBest",
    "LogWarmup",
    "LossScale",
    "SGD",
    "WarmupCosine",
    "averaged_weights",
    "callbacks",
    "check_batch_size",
    "daanet",
    "load_weights",
    "masque",
    "maxout_pointer_qg",
    "mirrored",
    "san",
    "save_weights",
    "vote",
    "vote_all",
]

replicas.register()
