// Builds ringmaster_launch_rows for the host; tests/support/cuda_on_host must be among the include folders.
#include "engine/kernels/row_kernels.cu"
