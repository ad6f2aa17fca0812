// C = A B in single precision, all matrices row-major: A is m x k, B is k x n, C is m x n.
//
// Every block computes a tile of C and walks along k with tiles of A (stored transposed) and B in shared memory. The
// tiles must divide k, m and n must be at least one tile and n and k multiples of 4: a block that would reach over the
// edge steps back inside and computes a few elements that its neighbour computes too, so that no access needs a guard.

constexpr int THREADS = block_size_x * block_size_y;
constexpr int TILE_M = block_size_y * tile_size_y;
constexpr int TILE_N = block_size_x * tile_size_x;
constexpr int TILE_K = tile_size_k;
constexpr int UNROLL_K = unroll_k;

#if vector_width == 4
typedef float4 Vector;
#elif vector_width == 2
typedef float2 Vector;
#else
typedef float Vector;
#endif

constexpr int VECTORS_A = TILE_M * TILE_K / vector_width / THREADS;  // loads of each thread for one tile of A
constexpr int VECTORS_B = TILE_N * TILE_K / vector_width / THREADS;
constexpr int PITCH_A = TILE_M + (use_padding ? 1 : 0);
constexpr int BUFFERS = buffering == 2 ? 2 : 1;

// Row of the tile that holds number i of this thread's rows of C.
__device__ inline int row(int i)
{
    return contiguous ? threadIdx.y * tile_size_y + i : threadIdx.y + i * block_size_y;
}

// Column of the tile that holds number i of this thread's columns of C.
__device__ inline int column(int i)
{
    return contiguous ? threadIdx.x * tile_size_x + i : threadIdx.x + i * block_size_x;
}

__device__ inline void load_tiles(Vector (&from_a)[VECTORS_A], Vector (&from_b)[VECTORS_B], const float *a,
                                  const float *b, int n, int k, int thread)
{
#pragma unroll
    for (int i = 0; i < VECTORS_A; i++) {
        const int first = (thread + i * THREADS) * vector_width;
        from_a[i] = *reinterpret_cast<const Vector *>(&a[(size_t)(first / TILE_K) * k + first % TILE_K]);
    }
#pragma unroll
    for (int i = 0; i < VECTORS_B; i++) {
        const int first = (thread + i * THREADS) * vector_width;
        from_b[i] = *reinterpret_cast<const Vector *>(&b[(size_t)(first / TILE_N) * n + first % TILE_N]);
    }
}

__device__ inline void store_tiles(const Vector (&from_a)[VECTORS_A], const Vector (&from_b)[VECTORS_B],
                                   float (&tile_a)[TILE_K][PITCH_A], float (&tile_b)[TILE_K][TILE_N], int thread)
{
#pragma unroll
    for (int i = 0; i < VECTORS_A; i++) {
        const int first = (thread + i * THREADS) * vector_width;
        const float *values = reinterpret_cast<const float *>(&from_a[i]);
#pragma unroll
        for (int j = 0; j < vector_width; j++) {
            tile_a[first % TILE_K + j][first / TILE_K] = values[j];
        }
    }
#pragma unroll
    for (int i = 0; i < VECTORS_B; i++) {
        const int first = (thread + i * THREADS) * vector_width;
        *reinterpret_cast<Vector *>(&tile_b[first / TILE_N][first % TILE_N]) = from_b[i];
    }
}

extern "C" __global__ void gemm(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ __align__(16) float tiles_a[BUFFERS][TILE_K][PITCH_A];
    __shared__ __align__(16) float tiles_b[BUFFERS][TILE_K][TILE_N];
    Vector from_a[VECTORS_A];
    Vector from_b[VECTORS_B];

    const int thread = threadIdx.y * block_size_x + threadIdx.x;
    const int first_row = min(blockIdx.y * TILE_M, m - TILE_M);
    const int first_column = min(blockIdx.x * TILE_N, n - TILE_N);
    a += (size_t)first_row * k;
    b += first_column;

    float sum[tile_size_y][tile_size_x] = {};

    load_tiles(from_a, from_b, a, b, n, k, thread);
    store_tiles(from_a, from_b, tiles_a[0], tiles_b[0], thread);
    __syncthreads();

    int buffer = 0;
    for (int first_k = TILE_K; first_k <= k; first_k += TILE_K) {
        const bool more = first_k < k;
#if buffering > 0
        if (more) {
            load_tiles(from_a, from_b, a + first_k, b + (size_t)first_k * n, n, k, thread);
        }
#endif

#pragma unroll UNROLL_K
        for (int kk = 0; kk < TILE_K; kk++) {
            float values_a[tile_size_y];
            float values_b[tile_size_x];
#pragma unroll
            for (int y = 0; y < tile_size_y; y++) {
                values_a[y] = tiles_a[buffer][kk][row(y)];
            }
#pragma unroll
            for (int x = 0; x < tile_size_x; x++) {
                values_b[x] = tiles_b[buffer][kk][column(x)];
            }
#pragma unroll
            for (int y = 0; y < tile_size_y; y++) {
#pragma unroll
                for (int x = 0; x < tile_size_x; x++) {
                    sum[y][x] += values_a[y] * values_b[x];
                }
            }
        }

        if (more) {
#if buffering == 0
            load_tiles(from_a, from_b, a + first_k, b + (size_t)first_k * n, n, k, thread);
#endif
#if buffering == 2
            buffer = 1 - buffer;
#else
            __syncthreads();
#endif
            store_tiles(from_a, from_b, tiles_a[buffer], tiles_b[buffer], thread);
            __syncthreads();
        }
    }

#pragma unroll
    for (int y = 0; y < tile_size_y; y++) {
#pragma unroll
        for (int x = 0; x < tile_size_x; x++) {
            c[(size_t)(first_row + row(y)) * n + first_column + column(x)] = sum[y][x];
        }
    }
}
