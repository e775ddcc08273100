"""Training: the papers' settings, optimizers, callbacks, distribution, teachers, ensembles."""

from tfmrc.training.base import compile_arguments, only_outputs, register_training
from tfmrc.training.callbacks.best_checkpoint import BestCheckpoint
from tfmrc.training.callbacks.checkpoint import Checkpoint
from tfmrc.training.callbacks.csv_log import CsvLog
from tfmrc.training.callbacks.ema_weights import EMAWeights, ema_weights
from tfmrc.training.callbacks.non_finite import NonFiniteError, StopOnNonFinite
from tfmrc.training.callbacks.progress import ProgressLog
from tfmrc.training.callbacks.save_on_interrupt import SaveOnInterrupt, TrainingInterrupted
from tfmrc.training.callbacks.standard import callbacks
from tfmrc.training.callbacks.time_limit import TimeLimit
from tfmrc.training.callbacks.weights_file import load_weights, save_weights
from tfmrc.training.daanet import daanet
from tfmrc.training.distillation import Distillation
from tfmrc.training.distribution import replicas
from tfmrc.training.distribution.hosts import data_parallel, rows_of_host
from tfmrc.training.distribution.strategies import check_batch_size, mirrored
from tfmrc.training.ensemble import vote, vote_all
from tfmrc.training.extractive_reader import extractive_reader
from tfmrc.training.masque import masque
from tfmrc.training.maxout_pointer_qg import maxout_pointer_qg
from tfmrc.training.optimizers.adamax import Adamax
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.optimizers.loss_scale import LossScale
from tfmrc.training.optimizers.sgd import SGD
from tfmrc.training.san import san
from tfmrc.training.schedules.log_warmup import LogWarmup

replicas.register()
