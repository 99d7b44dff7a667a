# Compiles through ccache if it is installed. The base folder makes paths relative, so that a second checkout hits the
# same cache.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(ccache_command ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_command})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache_command})
endif()
