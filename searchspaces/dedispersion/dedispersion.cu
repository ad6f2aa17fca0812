// Dedispersion of a radio signal: for every trial dispersion measure (DM), the sum over all frequency channels, each
// shifted in time by the delay that this DM means for the channel.
//
// There must be at least one tile of samples and of DMs: a block that would reach over the edge steps back inside and
// computes a few sums that its neighbour computes too, so that no access needs a guard.

constexpr int CHANNELS = 1024;
constexpr int UNROLL_CHANNELS = unroll_channels;
constexpr int TILE_SAMPLES = block_size_x * tile_size_x;
constexpr int TILE_DMS = block_size_y * tile_size_y;

__constant__ float d_shifts[CHANNELS];  // delay of each channel in samples, for the first DM after zero

__device__ inline float load_sample(const float *pointer)
{
#if read_only == 1
    return __ldg(pointer);
#else
    return *pointer;
#endif
}

// Sample, relative to the tile, of sum number i of this thread.
__device__ inline int sample(int i)
{
    return tile_stride_x ? threadIdx.x + i * block_size_x : threadIdx.x * tile_size_x + i;
}

// DM, relative to the tile, of sum number i of this thread.
__device__ inline int dm(int i)
{
    return tile_stride_y ? threadIdx.y + i * block_size_y : threadIdx.y * tile_size_y + i;
}

// Rounded as on the host, whatever else the compiler may fuse.
__device__ inline int delay(int dm, float shift)
{
    return (int)__fmul_rn((float)dm, shift);
}

#if staged_channels > 0
constexpr int CHUNK = staged_channels;

__device__ inline void stage_delays(int (&delays)[CHUNK][TILE_DMS], int first_channel, int first_dm)
{
    for (int i = threadIdx.y * block_size_x + threadIdx.x; i < CHUNK * TILE_DMS; i += block_size_x * block_size_y) {
        delays[i / TILE_DMS][i % TILE_DMS] = delay(first_dm + i % TILE_DMS, d_shifts[first_channel + i / TILE_DMS]);
    }
}
#else
constexpr int CHUNK = CHANNELS;
#endif

// Kernel Tuner copies `shifts` to `d_shifts`, the constant memory from which the kernel reads them.
extern "C" __global__ void dedispersion(float *sums, const float *samples, const float *shifts, int n_samples, int n_dms,
                                        int pitch)
{
    const int first_sample = min(blockIdx.x * TILE_SAMPLES, n_samples - TILE_SAMPLES);
    const int first_dm = min(blockIdx.y * TILE_DMS, n_dms - TILE_DMS);
    const float *channel = samples + first_sample;

    float sum[tile_size_y][tile_size_x] = {};

#pragma unroll 1
    for (int first_channel = 0; first_channel < CHANNELS; first_channel += CHUNK) {
#if staged_channels > 0
        __shared__ int delays[CHUNK][TILE_DMS];
        stage_delays(delays, first_channel, first_dm);
        __syncthreads();
#endif
#pragma unroll UNROLL_CHANNELS
        for (int c = 0; c < CHUNK; c++) {
#pragma unroll
            for (int y = 0; y < tile_size_y; y++) {
#if staged_channels > 0
                const float *shifted = channel + delays[c][dm(y)];
#else
                const float *shifted = channel + delay(first_dm + dm(y), d_shifts[c]);
#endif
#pragma unroll
                for (int x = 0; x < tile_size_x; x++) {
                    sum[y][x] += load_sample(&shifted[sample(x)]);
                }
            }
            channel += pitch;
        }
#if staged_channels > 0
        __syncthreads();
#endif
    }

#pragma unroll
    for (int y = 0; y < tile_size_y; y++) {
#pragma unroll
        for (int x = 0; x < tile_size_x; x++) {
            sums[(size_t)(first_dm + dm(y)) * n_samples + first_sample + sample(x)] = sum[y][x];
        }
    }
}
