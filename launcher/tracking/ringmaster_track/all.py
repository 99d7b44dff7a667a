"""Every tracker, by the name that settings.json has for it."""
from .comet_tracker import CometTracker
from .mlflow_tracker import MlflowTracker
from .tensorboard_tracker import TensorboardTracker
from .trackio_tracker import TrackioTracker
from .wandb_tracker import WandbTracker

TRACKERS = {"wandb": WandbTracker, "mlflow": MlflowTracker, "comet": CometTracker, "trackio": TrackioTracker,
            "tensorboard": TensorboardTracker}
