from .client import Client as Client
from .limits import Limits as Limits
from .server import Server as Server
from .tf_serving import write_serving_config as write_serving_config
