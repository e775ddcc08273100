from .export import export_saved_model as export_saved_model
from .manifest import DamagedError as DamagedError, verify as verify
