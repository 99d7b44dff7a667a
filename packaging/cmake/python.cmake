# Finds the cached environment (PyTorch's wheel and the Hugging Face libraries) that packaging/setup fills. The programs
# record its folder; RINGMASTER_PYTHON_ENV chooses another one.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(ringmaster_cache "$ENV{XDG_CACHE_HOME}/ringmaster")
else()
    set(ringmaster_cache "$ENV{HOME}/.cache/ringmaster")
endif()
set(RINGMASTER_PYTHON_ENV "${ringmaster_cache}/venv-torch-2.11.0" CACHE PATH "Virtual environment with torch 2.11.0")
set(RINGMASTER_PYTHON "${RINGMASTER_PYTHON_ENV}/bin/python")
if(NOT EXISTS "${RINGMASTER_PYTHON}")
    message(FATAL_ERROR "No Python environment in ${RINGMASTER_PYTHON_ENV}: run packaging/setup, or set RINGMASTER_PYTHON_ENV")
endif()
