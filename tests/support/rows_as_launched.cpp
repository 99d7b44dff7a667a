// ringmaster_launch_rows for the host; needs tests/support/cuda_on_host among the include folders.
#include "engine/kernels/row_kernels.cu"
