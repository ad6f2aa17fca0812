// 2-D convolution of an image with a 17 x 17 filter: every block computes a tile of the output.
//
// The input has a border of half a filter on every side, so its rows are width + FILTER_WIDTH - 1 long. The image must be
// at least one tile wide and high: a block that would reach over the edge steps back inside and computes a few outputs
// that its neighbour computes too, so that no access needs a guard.

constexpr int FILTER_WIDTH = 17;
constexpr int FILTER_HEIGHT = 17;

constexpr int TILE_WIDTH = block_size_x * tile_size_x;
constexpr int TILE_HEIGHT = block_size_y * tile_size_y;

__constant__ float d_filter[FILTER_HEIGHT * FILTER_WIDTH];

__device__ inline float load_input(const float *pointer)
{
#if read_only == 1
    return __ldg(pointer);
#else
    return *pointer;
#endif
}

// First column, relative to the tile, of output number i of this thread.
__device__ inline int column(int i)
{
    return contiguous_x ? threadIdx.x * tile_size_x + i : threadIdx.x + i * block_size_x;
}

__device__ inline int row(int i)
{
    return threadIdx.y + i * block_size_y;
}

#if filter_in_shared == 1
__device__ inline void copy_filter(float *weights)
{
    for (int i = threadIdx.y * block_size_x + threadIdx.x; i < FILTER_HEIGHT * FILTER_WIDTH;
         i += block_size_x * block_size_y) {
        weights[i] = d_filter[i];
    }
}
#endif

#if use_shmem == 1
constexpr int STAGED_WIDTH = TILE_WIDTH + FILTER_WIDTH - 1;
constexpr int STAGED_HEIGHT = TILE_HEIGHT + FILTER_HEIGHT - 1;

// Padding gives the next row of threads in a warp the banks that follow those of the row before it.
constexpr int PADDING = use_padding ? (block_size_x + 31 * STAGED_WIDTH) % 32 : 0;
constexpr int PITCH = STAGED_WIDTH + PADDING;

__device__ inline void stage_input(float *staged, const float *window, int input_pitch)
{
    for (int y = threadIdx.y; y < STAGED_HEIGHT; y += block_size_y) {
        for (int x = threadIdx.x; x < STAGED_WIDTH; x += block_size_x) {
            staged[y * PITCH + x] = load_input(&window[(size_t)y * input_pitch + x]);
        }
    }
}
#endif

// Kernel Tuner copies `filter` to `d_filter`, the constant memory from which the kernel reads it.
extern "C" __global__ void convolution(float *output, const float *input, const float *filter, int width, int height)
{
    const int first_x = min(blockIdx.x * TILE_WIDTH, width - TILE_WIDTH);
    const int first_y = min(blockIdx.y * TILE_HEIGHT, height - TILE_HEIGHT);
    const int input_pitch = width + FILTER_WIDTH - 1;
    const float *window = input + (size_t)first_y * input_pitch + first_x;

#if filter_in_shared == 1
    __shared__ float weights[FILTER_HEIGHT * FILTER_WIDTH];
    copy_filter(weights);
#else
    const float *weights = d_filter;
#endif
#if use_shmem == 1
    __shared__ float staged[STAGED_HEIGHT * PITCH];
    stage_input(staged, window, input_pitch);
#endif
#if use_shmem == 1 || filter_in_shared == 1
    __syncthreads();
#endif

    float sum[tile_size_y][tile_size_x] = {};

#pragma unroll 1
    for (int i = 0; i < FILTER_HEIGHT; i++) {
#pragma unroll
        for (int j = 0; j < FILTER_WIDTH; j++) {
            const float weight = weights[i * FILTER_WIDTH + j];
#pragma unroll
            for (int y = 0; y < tile_size_y; y++) {
#pragma unroll
                for (int x = 0; x < tile_size_x; x++) {
#if use_shmem == 1
                    sum[y][x] += weight * staged[(row(y) + i) * PITCH + column(x) + j];
#else
                    sum[y][x] += weight * load_input(&window[(size_t)(row(y) + i) * input_pitch + column(x) + j]);
#endif
                }
            }
        }
    }

#pragma unroll
    for (int y = 0; y < tile_size_y; y++) {
#pragma unroll
        for (int x = 0; x < tile_size_x; x++) {
            output[(size_t)(first_y + row(y)) * width + first_x + column(x)] = sum[y][x];
        }
    }
}
