// Gravitational acceleration of n bodies by all pairs, with softening.
//
// The threads of a block along x hold its bodies; the threads along y share the interactions of each body out among
// themselves and add their parts in the end. There must be at least as many bodies as a block holds: a block that would
// reach over the end steps back and computes a few bodies that its neighbour computes too.

constexpr float SOFTENING_SQUARED = 1e-4f;
constexpr int UNROLL_BODIES = unroll_bodies;
constexpr int BLOCK_BODIES = block_size_x * bodies_per_thread;

// Position and mass of body i, from an array of structures or a structure of arrays.
__device__ inline float4 load_body(const float *structures, const float *arrays, int i, int n)
{
#if layout == 0
    return __ldg(&reinterpret_cast<const float4 *>(structures)[i]);
#elif layout == 1
    return make_float4(__ldg(&structures[4 * i]), __ldg(&structures[4 * i + 1]), __ldg(&structures[4 * i + 2]),
                       __ldg(&structures[4 * i + 3]));
#else
    return make_float4(__ldg(&arrays[i]), __ldg(&arrays[n + i]), __ldg(&arrays[2 * n + i]), __ldg(&arrays[3 * n + i]));
#endif
}

__device__ inline void add_interaction(float3 &acceleration, const float4 &body, const float4 &other)
{
    const float x = other.x - body.x;
    const float y = other.y - body.y;
    const float z = other.z - body.z;
    const float squared = x * x + y * y + z * z + SOFTENING_SQUARED;
#if use_rsqrt == 1
    const float inverse = rsqrtf(squared);
#else
    const float inverse = 1.0f / sqrtf(squared);
#endif
    const float strength = other.w * inverse * inverse * inverse;
    acceleration.x += strength * x;
    acceleration.y += strength * y;
    acceleration.z += strength * z;
}

#if block_size_y > 1
// Adds the parts that the threads along y have computed; the first of them gets the sum.
__device__ inline void add_parts(float3 &acceleration)
{
    __shared__ float parts[3][block_size_y][block_size_x];
    parts[0][threadIdx.y][threadIdx.x] = acceleration.x;
    parts[1][threadIdx.y][threadIdx.x] = acceleration.y;
    parts[2][threadIdx.y][threadIdx.x] = acceleration.z;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int y = 1; y < block_size_y; y++) {
            acceleration.x += parts[0][y][threadIdx.x];
            acceleration.y += parts[1][y][threadIdx.x];
            acceleration.z += parts[2][y][threadIdx.x];
        }
    }
    __syncthreads();
}
#endif

extern "C" __global__ void nbody(float *accelerations, const float *structures, const float *arrays, int n)
{
    const int first_body = min(blockIdx.x * BLOCK_BODIES, n - BLOCK_BODIES) + threadIdx.x;
    float4 bodies[bodies_per_thread];
    float3 acceleration[bodies_per_thread];
#pragma unroll
    for (int b = 0; b < bodies_per_thread; b++) {
        bodies[b] = load_body(structures, arrays, first_body + b * block_size_x, n);
        acceleration[b] = make_float3(0.0f, 0.0f, 0.0f);
    }

#if use_shmem == 1
    __shared__ float4 staged[block_size_y][block_size_x];
    for (int first = 0; first < n; first += block_size_x * block_size_y) {
        const int own = first + threadIdx.y * block_size_x + threadIdx.x;
        staged[threadIdx.y][threadIdx.x] =
            own < n ? load_body(structures, arrays, own, n) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll UNROLL_BODIES
        for (int i = 0; i < block_size_x; i++) {
            const float4 other = staged[threadIdx.y][i];
#pragma unroll
            for (int b = 0; b < bodies_per_thread; b++) {
                add_interaction(acceleration[b], bodies[b], other);
            }
        }
        __syncthreads();
    }
#else
#pragma unroll UNROLL_BODIES
    for (int i = threadIdx.y; i < n; i += block_size_y) {
        const float4 other = load_body(structures, arrays, i, n);
#pragma unroll
        for (int b = 0; b < bodies_per_thread; b++) {
            add_interaction(acceleration[b], bodies[b], other);
        }
    }
#endif

#pragma unroll
    for (int b = 0; b < bodies_per_thread; b++) {
#if block_size_y > 1
        add_parts(acceleration[b]);
#endif
        if (threadIdx.y == 0) {
            float *result = &accelerations[3 * (first_body + b * block_size_x)];
            result[0] = acceleration[b].x;
            result[1] = acceleration[b].y;
            result[2] = acceleration[b].z;
        }
    }
}
