/* Heat equation on a square grid: time_steps explicit steps of the five-point stencil, boundary values held fixed.
 *
 * A pass over the grid advances time_tile steps. Each OpenMP thread takes tiles of tile_y x tile_x points. With
 * time_tile > 1 it advances a tile in buffers of its own, beginning with a halo of time_tile points that shrinks by
 * one point a step, so that a pass reads and writes each tile once (overlapped time tiling).
 *
 * Returns its own run time in milliseconds, as Kernel Tuner's C backend wants it.
 */
#include <omp.h>
#include <string.h>

#define PASSES (time_steps / time_tile)
#define BUFFER_Y (tile_y + 2 * time_tile)
#define BUFFER_X (tile_x + 2 * time_tile)

#if use_restrict
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

static inline int at_least(int value, int low) { return value < low ? low : value; }
static inline int at_most(int value, int high) { return value > high ? high : value; }

static inline __attribute__((always_inline)) float heat(const float *centre, int stride) {
    return centre[0] + 0.2f * (centre[-1] + centre[1] + centre[-stride] + centre[stride] - 4.0f * centre[0]);
}

/* Rows of a part of the grid: point (y, x) of the grid is values[origin + y * stride + x]. */
#define POINT(part, y, x) part[part##_origin + (long)(y) * part##_stride + (x)]

/* One step on the points [y0, y1) x [x0, x1) of a grid of n x n. */
static __attribute__((noinline)) void step(float *RESTRICT out, long out_origin, int out_stride,
                                           const float *RESTRICT in, long in_origin, int in_stride, int y0, int y1,
                                           int x0, int x1, int n) {
    const int first = at_least(x0, 1), last = at_most(x1, n - 1), last_y = at_most(y1, n - 1);
    int y = y0;
    if (y == 0) {
        memcpy(&POINT(out, 0, x0), &POINT(in, 0, x0), (x1 - x0) * sizeof(float));
        y = 1;
    }
    for (; y + row_block <= last_y; y += row_block) {
        for (int x = first; x < last; x++) {
#pragma GCC unroll 4
            for (int r = 0; r < row_block; r++) {
                POINT(out, y + r, x) = heat(&POINT(in, y + r, x), in_stride);
            }
        }
    }
    for (; y < last_y; y++) {
        for (int x = first; x < last; x++) {
            POINT(out, y, x) = heat(&POINT(in, y, x), in_stride);
        }
    }
    if (y1 == n) {
        memcpy(&POINT(out, n - 1, x0), &POINT(in, n - 1, x0), (x1 - x0) * sizeof(float));
    }
    for (y = y0; y < y1; y++) {
        if (x0 == 0) {
            POINT(out, y, 0) = POINT(in, y, 0);
        }
        if (x1 == n) {
            POINT(out, y, n - 1) = POINT(in, y, n - 1);
        }
    }
}

/* time_tile steps on the tile whose first point is (y0, x0). */
static void advance_tile(float *RESTRICT out, const float *RESTRICT in, int y0, int x0, int n) {
    const int y1 = at_most(y0 + tile_y, n), x1 = at_most(x0 + tile_x, n);
#if time_tile == 1
    step(out, 0, n, in, 0, n, y0, y1, x0, x1, n);
#else
    float buffers[2][BUFFER_Y * BUFFER_X] __attribute__((aligned(64)));
    const long buffer_origin = -((long)(y0 - time_tile) * BUFFER_X + (x0 - time_tile));
    const float *source = in;
    long source_origin = 0;
    int source_stride = n;
    for (int halo = time_tile - 1; halo > 0; halo--) {
        step(buffers[halo & 1], buffer_origin, BUFFER_X, source, source_origin, source_stride, at_least(y0 - halo, 0),
             at_most(y1 + halo, n), at_least(x0 - halo, 0), at_most(x1 + halo, n), n);
        source = buffers[halo & 1];
        source_origin = buffer_origin;
        source_stride = BUFFER_X;
    }
    step(out, 0, n, source, source_origin, source_stride, y0, y1, x0, x1, n);
#endif
}

#ifdef __cplusplus
extern "C"
#endif
float stencil_openmp(float *output, float *scratch, const float *input, int n) {
    double start = omp_get_wtime();
    const float *source = input;
    for (int pass = 0; pass < PASSES; pass++) {
        float *target = ((PASSES - pass) & 1) ? output : scratch;
#pragma omp parallel for collapse(2) schedule(omp_schedule)
        for (int y = 0; y < n; y += tile_y) {
            for (int x = 0; x < n; x += tile_x) {
                advance_tile(target, source, y, x, n);
            }
        }
        source = target;
    }
    return (float)((omp_get_wtime() - start) * 1000.0);
}
