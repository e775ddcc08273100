from .loaded import Loaded as Loaded, open_model as open_model
from .recipes import find_recipe as find_recipe
from .settings import (
    Evaluation as Evaluation,
    Experiment as Experiment,
    Grid as Grid,
    Source as Source,
    Split as Split,
    Training as Training,
    VocabularySettings as VocabularySettings,
    from_mapping as from_mapping,
    read_settings as read_settings,
    write_settings as write_settings,
)
from .steps.calibrate import calibrate as calibrate
from .steps.evaluate import evaluate_file as evaluate_file, evaluate_run as evaluate_run
from .steps.export import export as export
from .steps.init import init as init
from .steps.predict import predict as predict
from .steps.prepare import prepare as prepare
from .steps.tables import ask_documents as ask_documents
from .steps.train import train as train
