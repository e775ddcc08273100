from .batching_options import BatchingOptions as BatchingOptions
from .client import AsyncClient as AsyncClient, Client as Client
from .limits import Limits as Limits
from .profiling import Profile as Profile, profile as profile
from .server import Server as Server
from .tf_serving import write_serving_config as write_serving_config
