/* Matrix product C = A B of square single-precision matrices, row-major, tiled for caches and registers.
 *
 * Three levels: OpenMP threads take tiles of tile_i x tile_j elements of C; each tile walks through k in steps of
 * tile_k; and a micro-kernel keeps micro_rows x micro_vectors vectors of C in registers meanwhile.
 *
 * Returns its own run time in milliseconds, as Kernel Tuner's C backend wants it.
 */
#include <omp.h>
#include <string.h>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define ORDER_ij 1
#define ORDER_ji 2
#define ORDER CONCAT(ORDER_, tile_order)

#define MICRO_COLUMNS (micro_vectors * vector_width)

typedef float vector __attribute__((vector_size(4 * vector_width), aligned(4), may_alias));

/* micro_rows x MICRO_COLUMNS elements of C, over depth values of k. The strides are in elements. */
static inline __attribute__((always_inline)) void micro_kernel(float *restrict c, int c_stride,
                                                               const float *restrict a, int a_stride,
                                                               const float *restrict b, int b_stride, int first) {
    vector sum[micro_rows][micro_vectors];
#pragma GCC unroll 16
    for (int i = 0; i < micro_rows; i++) {
#pragma GCC unroll 16
        for (int v = 0; v < micro_vectors; v++) {
            sum[i][v] = first ? (vector){0} : *(const vector *)(c + i * c_stride + v * vector_width);
        }
    }
    for (int k = 0; k < tile_k; k++) {
        vector row[micro_vectors];
#pragma GCC unroll 16
        for (int v = 0; v < micro_vectors; v++) {
            row[v] = *(const vector *)(b + k * b_stride + v * vector_width);
        }
#pragma GCC unroll 16
        for (int i = 0; i < micro_rows; i++) {
#pragma GCC unroll 16
            for (int v = 0; v < micro_vectors; v++) {
                sum[i][v] += a[i * a_stride + k] * row[v];
            }
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < micro_rows; i++) {
#pragma GCC unroll 16
        for (int v = 0; v < micro_vectors; v++) {
            *(vector *)(c + i * c_stride + v * vector_width) = sum[i][v];
        }
    }
}

/* One tile of C, over one tile of k. */
static void multiply_tile(float *restrict c, const float *restrict a, const float *restrict b, int n, int first) {
#if pack_b
    /* panels of MICRO_COLUMNS columns, so that the micro-kernel reads B with stride one */
    float panels[tile_k * tile_j] __attribute__((aligned(64)));
    for (int j = 0; j < tile_j; j += MICRO_COLUMNS) {
        for (int k = 0; k < tile_k; k++) {
            memcpy(panels + j * tile_k + k * MICRO_COLUMNS, b + k * n + j, MICRO_COLUMNS * sizeof(float));
        }
    }
#define B_BLOCK(j) (panels + (j) * tile_k), MICRO_COLUMNS
#else
#define B_BLOCK(j) (b + (j)), n
#endif

#if ORDER == ORDER_ij
    for (int i = 0; i < tile_i; i += micro_rows) {
        for (int j = 0; j < tile_j; j += MICRO_COLUMNS) {
#else
    for (int j = 0; j < tile_j; j += MICRO_COLUMNS) {
        for (int i = 0; i < tile_i; i += micro_rows) {
#endif
            micro_kernel(c + i * n + j, n, a + i * n, n, B_BLOCK(j), first);
        }
    }
}

#ifdef __cplusplus
extern "C"
#endif
float matmul_openmp(float *restrict c, const float *restrict a, const float *restrict b, int n) {
    double start = omp_get_wtime();
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i += tile_i) {
        for (int j = 0; j < n; j += tile_j) {
            for (int k = 0; k < n; k += tile_k) {
                multiply_tile(c + i * n + j, a + i * n + k, b + k * n + j, n, k == 0);
            }
        }
    }
    return (float)((omp_get_wtime() - start) * 1000.0);
}
