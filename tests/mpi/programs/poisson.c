/* tests/mpi/programs/poisson.c - conjugate gradients for Poisson's equation in the unit square.
 *
 * A Cartesian communicator places the blocks; a halo exchange is one MPI_Neighbor_alltoallw, with columns as vectors;
 * the two dot products of an iteration are an MPI_Allreduce each, one of them outstanding while the solution is
 * updated. Prints iterations, residual, error against the known solution and what rank 0 gathered. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 4 }; /* as MPI orders neighbors: up, down, left, right */

typedef struct settings {
  int points; /* of a side, inner ones */
  int limit;  /* of iterations */
  double tolerance;
} settings;

/* The block of this rank, with a border of one point. */
typedef struct mesh {
  MPI_Comm comm;
  int rank, ranks, dims[2], at[2];
  int rows, columns, first_row, first_column, width; /* width: of a row with its border */
  MPI_Datatype types[SIDES];
  MPI_Aint send[SIDES], receive[SIDES];
  double step;
} mesh;

static void share(int total, int parts, int part, int *first, int *count) {
  *first = total / parts * part + (part < total % parts ? part : total % parts);
  *count = total / parts + (part < total % parts);
}

static settings read_settings(int argc, char **argv) {
  settings setting = {argc > 1 ? atoi(argv[1]) : 64, 1000, 1e-10};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0)
    setting.points = setting.limit = -1;
  MPI_Bcast(&setting, sizeof setting, MPI_BYTE, 0, MPI_COMM_WORLD);
  return setting;
}

static MPI_Aint place(const mesh *grid, int row, int column) {
  return (row * grid->width + column) * (MPI_Aint)sizeof(double);
}

static void describe_halo(mesh *grid) {
  MPI_Datatype row, column;
  MPI_Type_contiguous(grid->columns, MPI_DOUBLE, &row);
  MPI_Type_vector(grid->rows, 1, grid->width, MPI_DOUBLE, &column);
  MPI_Type_commit(&row);
  MPI_Type_commit(&column);
  for (int side = 0; side < SIDES; side++) {
    int last = side % 2, across = side / 2;
    grid->types[side] = across ? column : row;
    grid->send[side] = across ? place(grid, 1, last ? grid->columns : 1) : place(grid, last ? grid->rows : 1, 1);
    grid->receive[side] =
        across ? place(grid, 1, last ? grid->columns + 1 : 0) : place(grid, last ? grid->rows + 1 : 0, 1);
  }
}

static mesh make_grid(const settings *setting) {
  mesh grid = {.step = 1.0 / (setting->points + 1)};
  MPI_Comm_size(MPI_COMM_WORLD, &grid.ranks);
  MPI_Dims_create(grid.ranks, 2, grid.dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid.dims, (int[]){0, 0}, 1, &grid.comm);
  MPI_Comm_rank(grid.comm, &grid.rank);
  MPI_Cart_coords(grid.comm, grid.rank, 2, grid.at);
  share(setting->points, grid.dims[0], grid.at[0], &grid.first_row, &grid.rows);
  share(setting->points, grid.dims[1], grid.at[1], &grid.first_column, &grid.columns);
  grid.width = grid.columns + 2;
  describe_halo(&grid);
  return grid;
}

static void free_grid(mesh *grid) {
  MPI_Type_free(&grid->types[0]);
  MPI_Type_free(&grid->types[2]);
  MPI_Comm_free(&grid->comm);
}

static double *make_field(const mesh *grid) {
  double *field = calloc((size_t)(grid->rows + 2) * (size_t)grid->width, sizeof *field);
  if (!field)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return field;
}

static double exact(const mesh *grid, int row, int column) {
  double y = (grid->first_row + row) * grid->step, x = (grid->first_column + column) * grid->step;
  return x * (1 - x) * y * (1 - y) * exp(3 * x) * cos(9 * y);
}

#define EACH_POINT(grid, row, column, n)                                                                               \
  for (int row = 1; row <= (grid)->rows; row++)                                                                        \
    for (int column = 1, n = row * (grid)->width + 1; column <= (grid)->columns; column++, n++)

static void exchange_halo(const mesh *grid, double *field) {
  static const int ones[SIDES] = {1, 1, 1, 1};
  MPI_Neighbor_alltoallw(field, ones, grid->send, grid->types, field, ones, grid->receive, grid->types, grid->comm);
}

/* to = -(the sum of differences to the four neighbors) */
static void apply(const mesh *grid, double *from, double *to) {
  exchange_halo(grid, from);
  EACH_POINT(grid, row, column, n)
  to[n] = 4 * from[n] - from[n - 1] - from[n + 1] - from[n - grid->width] - from[n + grid->width];
}

static double dot_here(const mesh *grid, const double *a, const double *b) {
  double sum = 0;
  EACH_POINT(grid, row, column, n)
  sum += a[n] * b[n];
  return sum;
}

static double dot(const mesh *grid, const double *a, const double *b) {
  double sum = dot_here(grid, a, b);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid->comm);
  return sum;
}

static void add(const mesh *grid, double factor, const double *what, double *to) {
  EACH_POINT(grid, row, column, n)
  to[n] += factor * what[n];
}

/* Solves for what is in `residual`; the iterations. *norm: that remains, relative. */
static int solve(const mesh *grid, const settings *setting, double *solution, double *residual, double *norm) {
  double *direction = make_field(grid), *image = make_field(grid);
  double start = dot(grid, residual, residual), now = start;
  int iterations = 0;
  add(grid, 1, residual, direction);
  while (iterations < setting->limit && now > setting->tolerance * setting->tolerance * start) {
    MPI_Request request;
    apply(grid, direction, image);
    double factor = now / dot(grid, direction, image), before = now;
    add(grid, -factor, image, residual);
    double mine = dot_here(grid, residual, residual);
    MPI_Iallreduce(&mine, &now, 1, MPI_DOUBLE, MPI_SUM, grid->comm, &request);
    add(grid, factor, direction, solution);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EACH_POINT(grid, row, column, n)
    direction[n] = residual[n] + now / before * direction[n];
    iterations++;
  }
  *norm = sqrt(now / start);
  free(direction);
  free(image);
  return iterations;
}

static double largest_error(const mesh *grid, const double *solution) {
  double mine = 0, all = 0;
  EACH_POINT(grid, row, column, n)
  mine = fmax(mine, fabs(solution[n] - exact(grid, row, column)));
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, grid->comm);
  MPI_Bcast(&all, 1, MPI_DOUBLE, 0, grid->comm);
  return all;
}

/* Points and sum of all blocks, by the place of the rank's first point in the order of ranks. */
static void gather_blocks(const mesh *grid, const double *solution) {
  int points = grid->rows * grid->columns, before = 0;
  MPI_Exscan(&points, &before, 1, MPI_INT, MPI_SUM, grid->comm);
  double block[3] = {grid->rank ? before : 0, points, 0}, *blocks = calloc((size_t)grid->ranks, sizeof block);
  EACH_POINT(grid, row, column, n)
  block[2] += solution[n] * (row + 2 * column);
  MPI_Gather(block, 3, MPI_DOUBLE, blocks, 3, MPI_DOUBLE, 0, grid->comm);
  for (int r = 0; grid->rank == 0 && r < grid->ranks; r++)
    printf("block %d: %.0f points from %.0f on, sum %.9f\n", r, blocks[3 * r + 1], blocks[3 * r], blocks[3 * r + 2]);
  free(blocks);
}

/* What `apply` makes of the known solution. */
static void make_right_side(const mesh *grid, double *to) {
  double *known = make_field(grid);
  EACH_POINT(grid, row, column, n)
  known[n] = exact(grid, row, column);
  apply(grid, known, to);
  free(known);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  settings setting = read_settings(argc, argv);
  mesh grid = make_grid(&setting);
  double *solution = make_field(&grid), *residual = make_field(&grid), norm;
  make_right_side(&grid, residual);
  int iterations = solve(&grid, &setting, solution, residual, &norm);
  bool solved = norm <= setting.tolerance && largest_error(&grid, solution) < 1e-7;
  if (grid.rank == 0)
    printf("%d x %d points, %d iterations, %ssolved\n", setting.points, setting.points, iterations,
           solved ? "" : "not ");
  gather_blocks(&grid, solution);
  free(solution);
  free(residual);
  free_grid(&grid);
  MPI_Finalize();
  return !solved;
}
