# ringmaster_room() adds the static library of a folder. The library links exactly the libraries whose headers it may
# include (see tests/layering.cmake).
#
#   ringmaster_room(plan COMPUTES SOURCES mesh.cpp ... LINKS ringmaster_config)
#
# COMPUTES marks a library whose speed matters at run time. Libraries without COMPUTES are compiled with -O1, which
# takes three quarters of the compile time of -O3.
#
# A unity build compiles six files of a library at a time, because parsing the headers takes longer than compiling the
# code. Files after APART are compiled alone, because they define names that other files define too. Headers of other
# projects are precompiled, for the same reason: the standard library and JSON for all libraries, with Qt for the app's
# (PCH qt) and with LibTorch for the engine's (PCH torch).

set(RINGMASTER_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them")

add_library(ringmaster_options INTERFACE)
target_include_directories(ringmaster_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(ringmaster_options INTERFACE RINGMASTER_VERSION="${PROJECT_VERSION}")
target_compile_options(ringmaster_options INTERFACE -Wall -Wextra -Wshadow -Wsuggest-override -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 wrongly warns of overlaps and overflows in std::string concatenation (GCC bug 105329).
    target_compile_options(ringmaster_options INTERFACE -Wno-restrict -Wno-stringop-overflow
        -Wno-array-bounds)
endif()
if(CMAKE_BUILD_TYPE STREQUAL Debug)
    target_compile_options(ringmaster_options INTERFACE -g1)
endif()
if(RINGMASTER_SANITIZE)
    target_compile_options(ringmaster_options INTERFACE -fsanitize=${RINGMASTER_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(ringmaster_options INTERFACE -fsanitize=${RINGMASTER_SANITIZE})
endif()

# ringmaster_precompile(NAME HEADER LIBRARY…) adds the target ringmaster_NAME_pch, whose precompiled header other
# targets reuse.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp CONTENT "")
function(ringmaster_precompile name header)
    add_library(ringmaster_${name}_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
    target_link_libraries(ringmaster_${name}_pch PRIVATE ringmaster_options ${ARGN})
    set_target_properties(ringmaster_${name}_pch PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(ringmaster_${name}_pch PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${header})
endfunction()

function(ringmaster_room name)
    cmake_parse_arguments(ARG "COMPUTES" "PCH" "SOURCES;APART;LINKS" ${ARGN})
    if(NOT ARG_PCH)
        set(ARG_PCH std)
    endif()
    add_library(ringmaster_${name} STATIC ${ARG_SOURCES} ${ARG_APART})
    set_target_properties(ringmaster_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_link_libraries(ringmaster_${name} PUBLIC ringmaster_options ${ARG_LINKS})
    set_target_properties(ringmaster_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(ringmaster_${name} REUSE_FROM ringmaster_${ARG_PCH}_pch)
    if(NOT ARG_COMPUTES)
        target_compile_options(ringmaster_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
endfunction()
