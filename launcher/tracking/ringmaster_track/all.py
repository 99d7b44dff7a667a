"""Lists every tracker by its name in settings.json."""
from .comet_tracker import CometTracker
from .mlflow_tracker import MlflowTracker
from .tensorboard_tracker import TensorboardTracker
from .trackio_tracker import TrackioTracker
from .wandb_tracker import WandbTracker

TRACKERS = {"wandb": WandbTracker, "mlflow": MlflowTracker, "comet": CometTracker, "trackio": TrackioTracker,
            "tensorboard": TensorboardTracker}
