// Sum of an array, in one launch: every block sums its part, and the last block to finish completes the sum.

constexpr int UNROLL_LOADS = unroll_loads;
constexpr int VECTORS = items_per_thread / vector_width;  // loads of each thread

#if vector_width == 4
typedef float4 Vector;
#elif vector_width == 2
typedef float2 Vector;
#else
typedef float Vector;
#endif

// Left at zero by every launch, so that the kernel can be launched again.
__device__ unsigned int finished_blocks = 0;
__device__ float total = 0.0f;

__device__ inline Vector load(const Vector *pointer)
{
#if streaming == 1
    return __ldcs(pointer);
#else
    return *pointer;
#endif
}

// Index of vector number i of this thread.
__device__ inline int vector_index(int i)
{
#if access_pattern == 0  // the block's part is contiguous, neighbours in a warp read neighbours
    return (blockIdx.x * VECTORS + i) * block_size_x + threadIdx.x;
#elif access_pattern == 1  // the whole grid strides through the array
    return (i * gridDim.x + blockIdx.x) * block_size_x + threadIdx.x;
#else  // the thread's part is contiguous
    return (blockIdx.x * block_size_x + threadIdx.x) * VECTORS + i;
#endif
}

__device__ inline float sum_of(const Vector &vector)
{
#if vector_width == 4
    return (vector.x + vector.y) + (vector.z + vector.w);
#elif vector_width == 2
    return vector.x + vector.y;
#else
    return vector;
#endif
}

// Sum of `value` over the block, known to thread 0.
__device__ inline float block_sum(float value)
{
    __shared__ float partial[block_size_x];
    const int thread = threadIdx.x;
#if use_shuffle == 1  // shuffles inside the warps, then across them
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    if (thread % 32 == 0) {
        partial[thread / 32] = value;
    }
    __syncthreads();
    if (thread < 32) {
        value = thread < block_size_x / 32 ? partial[thread] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) {
            value += __shfl_down_sync(0xffffffffu, value, offset);
        }
    }
#else  // tree in shared memory
    partial[thread] = value;
    __syncthreads();
    for (int offset = block_size_x / 2; offset > 0; offset /= 2) {
        if (thread < offset) {
            partial[thread] += partial[thread + offset];
        }
        __syncthreads();
    }
    value = partial[0];
#endif
    __syncthreads();  // `partial` may be used again
    return value;
}

extern "C" __global__ void reduction(float *sum, float *block_sums, const float *array, int n)
{
    const Vector *vectors = reinterpret_cast<const Vector *>(array);
    const int n_vectors = n / vector_width;

    float value = 0.0f;
#pragma unroll UNROLL_LOADS
    for (int i = 0; i < VECTORS; i++) {
        const int index = vector_index(i);
        if (index < n_vectors) {
            value += sum_of(load(&vectors[index]));
        }
    }
    value = block_sum(value);

#if finish == 1  // one atomic addition of each block
    if (threadIdx.x == 0) {
        atomicAdd(&total, value);
        __threadfence();
        if (atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1) {
            *sum = atomicExch(&total, 0.0f);
        }
    }
#else  // the last block sums what all blocks left in memory
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = value;
        __threadfence();
        is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        value = 0.0f;
        for (int i = threadIdx.x; i < gridDim.x; i += block_size_x) {
            value += __ldcg(&block_sums[i]);
        }
        value = block_sum(value);
        if (threadIdx.x == 0) {
            *sum = value;
        }
    }
#endif
}
