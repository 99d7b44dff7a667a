# Defines targets for the LibTorch in PyTorch's wheel:
#
#   ringmaster::torch       headers, libtorch_cpu, libc10, Gloo's headers, OpenMP: the CPU engine
#   ringmaster::torch_cuda  what the CUDA part adds: libtorch_cuda, libc10_cuda, NCCL's and CUDA's headers
#
# The CUDA part is built on every machine, even without a GPU: the engine may be sent to a machine that has one. Only
# -DRINGMASTER_CUDA=off leaves it out.
file(GLOB torch_dirs ${RINGMASTER_PYTHON_ENV}/lib/python3*/site-packages/torch)
list(LENGTH torch_dirs torch_count)
if(NOT torch_count EQUAL 1)
    message(FATAL_ERROR "No torch in ${RINGMASTER_PYTHON_ENV}: run packaging/setup")
endif()
set(TORCH_DIR ${torch_dirs})
get_filename_component(torch_site ${TORCH_DIR} DIRECTORY)
set(TORCH_LIB_DIR ${TORCH_DIR}/lib)
file(READ ${TORCH_DIR}/version.py torch_version_text)
string(REGEX MATCH "__version__ = '([0-9.]+)" _ "${torch_version_text}")
set(TORCH_VERSION ${CMAKE_MATCH_1})
if(NOT TORCH_VERSION VERSION_EQUAL 2.11.0)
    message(FATAL_ERROR "torch ${TORCH_VERSION} in ${TORCH_DIR}, 2.11.0 is needed: run packaging/setup")
endif()

find_package(OpenMP REQUIRED)
find_path(GLOO_INCLUDE_DIR gloo/config.h REQUIRED)

add_library(ringmaster_torch INTERFACE)
add_library(ringmaster::torch ALIAS ringmaster_torch)
target_include_directories(ringmaster_torch SYSTEM INTERFACE
    ${TORCH_DIR}/include ${TORCH_DIR}/include/torch/csrc/api/include ${GLOO_INCLUDE_DIR})
target_compile_definitions(ringmaster_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
# libtorch_cpu finds its dependencies at run time by its own RPATH, so the engine is linked without naming them.
target_link_options(ringmaster_torch INTERFACE LINKER:--allow-shlib-undefined
    LINKER:-rpath-link,${TORCH_LIB_DIR})
target_link_libraries(ringmaster_torch INTERFACE
    ${TORCH_LIB_DIR}/libtorch_cpu.so ${TORCH_LIB_DIR}/libc10.so OpenMP::OpenMP_CXX)

set(RINGMASTER_LEAST_GPU 80) # the lowest compute capability, times ten, that the kernels are compiled for
option(RINGMASTER_CUDA "Build the engine's CUDA part, ringmaster_cuda.so" ON)
if(RINGMASTER_CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
        execute_process(COMMAND ${CMAKE_SOURCE_DIR}/packaging/nvcc ${RINGMASTER_PYTHON_ENV}
            OUTPUT_VARIABLE nvcc OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(NOT nvcc)
            message(FATAL_ERROR "No nvcc of CUDA 13.0 here: run packaging/setup, which installs one, or configure with "
                "-DRINGMASTER_CUDA=off for an engine without CUDA")
        endif()
        set(CMAKE_CUDA_COMPILER ${nvcc} CACHE FILEPATH "nvcc, of the release of torch's wheel")
    endif()
    cmake_path(GET CMAKE_CUDA_COMPILER PARENT_PATH toolkit)
    cmake_path(GET toolkit PARENT_PATH toolkit)
    if(EXISTS ${toolkit}/lib/libcudart_static.a)
        set(CMAKE_CUDA_FLAGS_INIT -L${toolkit}/lib) # nvcc searches lib64, which NVIDIA's wheels lack
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${RINGMASTER_LEAST_GPU}-real 90)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)  # the latest that CMake 3.25 supports for nvcc
    add_library(ringmaster_torch_cuda INTERFACE)
    add_library(ringmaster::torch_cuda ALIAS ringmaster_torch_cuda)
    target_include_directories(ringmaster_torch_cuda SYSTEM INTERFACE
        ${torch_site}/nvidia/nccl/include ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    target_compile_definitions(ringmaster_torch_cuda INTERFACE USE_C10D_NCCL)
    target_link_libraries(ringmaster_torch_cuda INTERFACE ringmaster::torch
        ${TORCH_LIB_DIR}/libtorch_cuda.so ${TORCH_LIB_DIR}/libc10_cuda.so)
endif()

# Lets a program find LibTorch through a link `libtorch` in the program's folder.
function(ringmaster_use_torch target)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/libtorch")
endfunction()
file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
file(CREATE_LINK ${TORCH_LIB_DIR} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libtorch SYMBOLIC)
