// Temperature of a chip after STEPS time steps: a five-point stencil with heat from each cell's power.
//
// Temporal tiling: a block reads its tile with a halo of STEPS cells and advances all the steps in shared memory, computing
// the halo again that its neighbours compute too. Over the edge of the chip the halo holds a mirror image, which evolves
// as an insulated edge demands, so that the steps need no guard. The chip must be at least one tile and STEPS cells wide
// and high; a block that would reach over the edge steps back inside.

constexpr int STEPS = 8;
constexpr float CONDUCTION_X = 0.2f;
constexpr float CONDUCTION_Y = 0.15f;
constexpr float HEATING = 0.1f;
constexpr float COOLING = 0.01f;

constexpr int TILE_WIDTH = block_size_x * tile_size_x;
constexpr int TILE_HEIGHT = block_size_y * tile_size_y;
constexpr int WIDTH = TILE_WIDTH + 2 * STEPS;  // tile with halo
constexpr int HEIGHT = TILE_HEIGHT + 2 * STEPS;

constexpr int FUSED = steps_per_barrier;
constexpr int STRIP = rows_per_strip;
constexpr int STRIP_ROWS = STRIP + 2 * FUSED;  // a strip of cells with all that they depend on
constexpr int STRIP_COLUMNS = 1 + 2 * FUSED;

__device__ inline int mirror(int i, int n)
{
    i = i < 0 ? -1 - i : i;
    return i < n ? i : 2 * n - 1 - i;
}

// Index, in the arrays of the chip, of a cell of the tile with halo.
__device__ inline size_t chip_index(int y, int x, int first_y, int first_x, int width, int height)
{
    return (size_t)mirror(first_y + y - STEPS, height) * width + mirror(first_x + x - STEPS, width);
}

// Advances a strip by FUSED steps; the outermost cells, which depend on cells outside, lose their meaning.
__device__ inline void advance(float (&cells)[STRIP_ROWS][STRIP_COLUMNS], const float (&heat)[STRIP_ROWS][STRIP_COLUMNS])
{
#pragma unroll
    for (int step = 1; step <= FUSED; step++) {
        float next[STRIP_ROWS][STRIP_COLUMNS];
#pragma unroll
        for (int y = step; y < STRIP_ROWS - step; y++) {
#pragma unroll
            for (int x = step; x < STRIP_COLUMNS - step; x++) {
                const float cell = cells[y][x];
                next[y][x] = cell + CONDUCTION_X * (cells[y][x - 1] + cells[y][x + 1] - 2.0f * cell) +
                             CONDUCTION_Y * (cells[y - 1][x] + cells[y + 1][x] - 2.0f * cell) + HEATING * heat[y][x] -
                             COOLING * cell;
            }
        }
#pragma unroll
        for (int y = step; y < STRIP_ROWS - step; y++) {
#pragma unroll
            for (int x = step; x < STRIP_COLUMNS - step; x++) {
                cells[y][x] = next[y][x];
            }
        }
    }
}

extern "C" __global__ void hotspot(float *result, const float *temperature, const float *power, int width, int height)
{
    __shared__ float levels[2][HEIGHT][WIDTH];
#if power_in_shared == 1
    __shared__ float staged_power[HEIGHT][WIDTH];
#endif
    const int first_x = min(blockIdx.x * TILE_WIDTH, width - TILE_WIDTH);
    const int first_y = min(blockIdx.y * TILE_HEIGHT, height - TILE_HEIGHT);

    for (int y = threadIdx.y; y < HEIGHT; y += block_size_y) {
        for (int x = threadIdx.x; x < WIDTH; x += block_size_x) {
            const size_t cell = chip_index(y, x, first_y, first_x, width, height);
            levels[0][y][x] = __ldg(&temperature[cell]);
#if power_in_shared == 1
            staged_power[y][x] = __ldg(&power[cell]);
#endif
        }
    }
    __syncthreads();

    int level = 0;
#pragma unroll 1
    for (int step = FUSED; step <= STEPS; step += FUSED) {
        // Cells nearer than this to the edge of the halo aren't needed any more, or can't be computed.
        const int margin = step == STEPS ? STEPS : (shrink_halo ? step : FUSED);

        for (int first_row = margin + threadIdx.y * STRIP; first_row < HEIGHT - margin; first_row += block_size_y * STRIP) {
            for (int column = margin + threadIdx.x; column < WIDTH - margin; column += block_size_x) {
                float cells[STRIP_ROWS][STRIP_COLUMNS];
                float heat[STRIP_ROWS][STRIP_COLUMNS];
#pragma unroll
                for (int y = 0; y < STRIP_ROWS; y++) {
                    const int row = min(first_row + y - FUSED, HEIGHT - 1);
#pragma unroll
                    for (int x = 0; x < STRIP_COLUMNS; x++) {
                        const int from = column + x - FUSED;
                        cells[y][x] = levels[level][row][from];
#if power_in_shared == 1
                        heat[y][x] = staged_power[row][from];
#else
                        heat[y][x] = __ldg(&power[chip_index(row, from, first_y, first_x, width, height)]);
#endif
                    }
                }
                advance(cells, heat);
#pragma unroll
                for (int y = 0; y < STRIP; y++) {
                    const int row = first_row + y;
                    if (row < HEIGHT - margin) {
                        if (step == STEPS) {
                            result[(size_t)(first_y + row - STEPS) * width + first_x + column - STEPS] =
                                cells[y + FUSED][FUSED];
                        } else {
                            levels[1 - level][row][column] = cells[y + FUSED][FUSED];
                        }
                    }
                }
            }
        }
        __syncthreads();
        level = 1 - level;
    }
}
