// Exists so that CMake has a source file to build the precompiled header for.
