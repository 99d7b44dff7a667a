"""Finds the user's functions: reward functions and transforms of rows."""

import importlib
import os
import sys
import traceback
from pathlib import Path

from .report import Failure


def function_named(name, where, base_dir):
    """Imports a function by the names of its module and itself, as axolotl does. The module is
    looked up in `base_dir`, which is the folder of the configuration, in the current folder, and
    among installed packages."""
    module_name, _, function_name = str(name).rpartition(".")
    if not module_name:
        raise Failure("is no function of a module", where, "name it as module.function; reward models are not built")
    for folder in (os.getcwd(), str(base_dir)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise Failure(f"there is no module {error.name}", where,
                          "the module lies beside the config, or is installed in the tokenizing environment") from error
        raise Failure(f"the module needs {error.name}, which is not installed", where,
                      "install it in the tokenizing environment") from error
    except Exception as error:
        raise Failure(f"the module cannot be imported: {described(error)}", where) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise Failure(f"module {module_name} has no function {function_name}", where, f"its file is {getattr(module, '__file__', '?')}")
    return function


def described(error):
    """Returns an exception's type and text, and the line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({Path(last[0].filename).name}, line {last[0].lineno})" if last else ""
    return f"{type(error).__name__}: {error}{place}"
