// Runs a CUDA kernel on the host, one block after the other, to test it where there is no GPU.
//
// The threads of a block are fibers that switch only at barriers and shuffles, in an order that the caller chooses: a
// kernel that lacks a barrier gives a wrong result in one order or the other. Shared memory is filled with NaN before each
// block. A barrier that some threads of a block never reach ends the program with an error.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __global__
#define __device__ static
#define __constant__ static
#define __shared__ static __attribute__((section("cuda_shared")))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __forceinline__ inline

extern char __start_cuda_shared[] __attribute__((weak));
extern char __stop_cuda_shared[] __attribute__((weak));

struct dim3 {
    unsigned int x, y, z;
};
struct float2 {
    float x, y;
} __attribute__((aligned(8)));
struct float3 {
    float x, y, z;
};
struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16)));

static inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
static inline float3 make_float3(float x, float y, float z) { return float3{x, y, z}; }

static dim3 gridDim, blockDim, blockIdx, threadIdx;

template <typename A, typename B> static inline auto min(A a, B b) -> decltype(a + b) { return a < b ? a : b; }
template <typename A, typename B> static inline auto max(A a, B b) -> decltype(a + b) { return a > b ? a : b; }
template <typename T> static inline T __ldg(const T *pointer) { return *pointer; }
template <typename T> static inline T __ldcs(const T *pointer) { return *pointer; }
template <typename T> static inline T __ldcg(const T *pointer) { return *pointer; }
static inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline void __threadfence() {}

static inline float atomicAdd(float *address, float value)
{
    const float old = *address;
    *address += value;
    return old;
}

static inline float atomicExch(float *address, float value)
{
    const float old = *address;
    *address = value;
    return old;
}

static inline unsigned int atomicInc(unsigned int *address, unsigned int limit)
{
    const unsigned int old = *address;
    *address = old >= limit ? 0 : old + 1;
    return old;
}

namespace fibers {

enum State { READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, FINISHED };

struct Fiber {
    ucontext_t context;
    State state;
    dim3 index;
    float shuffled;
};

constexpr int MAX_THREADS = 1024;
constexpr size_t STACK_BYTES = 256 * 1024;

static Fiber all[MAX_THREADS];
static int n_threads, current;
static ucontext_t scheduler;
static void (*body)();

static void switch_to_scheduler(State state)
{
    all[current].state = state;
    swapcontext(&all[current].context, &scheduler);
}

static void enter()
{
    body();
    switch_to_scheduler(FINISHED);
}

// Lets the threads from `first` to `last` go on if all of them wait in `state`; says whether it did.
static bool release(int first, int last, State state)
{
    for (int i = first; i < last; i++) {
        if (all[i].state != state) {
            return false;
        }
    }
    for (int i = first; i < last; i++) {
        all[i].state = READY;
    }
    return true;
}

static bool release_barriers()
{
    bool released = release(0, n_threads, AT_BLOCK_BARRIER);
    for (int first = 0; first < n_threads; first += 32) {
        released |= release(first, min(first + 32, n_threads), AT_WARP_BARRIER);
    }
    return released;
}

static void run_block(bool backwards)
{
    static char *stacks = static_cast<char *>(malloc(MAX_THREADS * STACK_BYTES));
    if (__start_cuda_shared) {
        memset(__start_cuda_shared, 0xff, __stop_cuda_shared - __start_cuda_shared);
    }
    for (int i = 0; i < n_threads; i++) {
        Fiber &fiber = all[i];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = stacks + i * STACK_BYTES;
        fiber.context.uc_stack.ss_size = STACK_BYTES;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
        fiber.state = READY;
        fiber.index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
    }
    do {
        for (int i = 0; i < n_threads; i++) {
            current = backwards ? n_threads - 1 - i : i;
            if (all[current].state == READY) {
                threadIdx = all[current].index;
                swapcontext(&scheduler, &all[current].context);
            }
        }
    } while (release_barriers());
    for (int i = 0; i < n_threads; i++) {
        if (all[i].state != FINISHED) {
            fprintf(stderr, "thread %d of block (%u, %u) waits at a barrier that others never reach\n", i, blockIdx.x,
                    blockIdx.y);
            exit(3);
        }
    }
}

static void launch(dim3 grid, dim3 block, bool backwards, void (*kernel)())
{
    gridDim = grid;
    blockDim = block;
    n_threads = block.x * block.y * block.z;
    body = kernel;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++) {
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++) {
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
                run_block(backwards);
            }
        }
    }
}

// A kernel argument that is an array, kept in a file between the test and this program.
static char *read_array(const char *path, size_t bytes)
{
    char *array = static_cast<char *>(aligned_alloc(256, (bytes + 255) / 256 * 256));
    FILE *file = fopen(path, "rb");
    if (!file || fread(array, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot read %zu bytes from %s\n", bytes, path);
        exit(4);
    }
    fclose(file);
    return array;
}

static void write_array(const char *path, const char *array, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(array, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot write %zu bytes to %s\n", bytes, path);
        exit(4);
    }
    fclose(file);
}

}  // namespace fibers

static inline void __syncthreads() { fibers::switch_to_scheduler(fibers::AT_BLOCK_BARRIER); }
static inline void __syncwarp() { fibers::switch_to_scheduler(fibers::AT_WARP_BARRIER); }

static inline float __shfl_down_sync(unsigned int, float value, unsigned int offset)
{
    const int self = fibers::current;
    fibers::all[self].shuffled = value;
    __syncwarp();
    const bool inside = self % 32 + offset < 32 && self + (int)offset < fibers::n_threads;
    const float other = fibers::all[inside ? self + offset : self].shuffled;
    __syncwarp();
    return other;
}
