"""Settings of experiments: what there are, reading and writing them, and their help."""

from tfmrc.experiments.settings.experiment import (
    DRAW_SEED as DRAW_SEED,
    STRICT as STRICT,
    Contextual as Contextual,
    ELMoFiles as ELMoFiles,
    Evaluation as Evaluation,
    Experiment as Experiment,
    Grid as Grid,
    Source as Source,
    Split as Split,
    Training as Training,
    VocabularySettings as VocabularySettings,
)
from tfmrc.experiments.settings.files import (
    changed as changed,
    from_mapping as from_mapping,
    override as override,
    read_dataclass as read_dataclass,
    read_settings as read_settings,
    write_settings as write_settings,
)
