/* examples/digits.c - data-parallel training: a small network learns handwritten digits on all ranks together.
 *
 *     tutti run -n 4 build/bin/examples/digits [digits.csv]
 *
 * Every rank holds the same weights. Of each mini-batch, rank r computes the gradients of images r, r + p, r + 2p, ...;
 * one tutti_allreduce sums them, and every rank takes the same step. Sums come in the same order on every rank and in
 * every run, so at the end the weights are the same bits everywhere, which a hash shows.
 *
 * The network: 64 pixels -> 128 (ReLU) -> 10 (softmax, cross-entropy); stochastic gradient descent with momentum. */
#include <tutti/tutti.h>

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 64, HIDDEN = 128, LABELS = 10, DIGITS = 1797, HELD_OUT_EVERY = 5, BATCH = 48, EPOCHS = 40, REPORT = 5 };

static const float learning_rate = 0.1f, momentum = 0.9f;

typedef struct digit {
  float pixel[PIXELS]; /* 0 .. 1 */
  int label;
} digit;

/* Floats only, so that all of it is one vector to sum; the last two are what a gradient's copy counts on the way. */
typedef struct network {
  float weight1[HIDDEN][PIXELS], bias1[HIDDEN];
  float weight2[LABELS][HIDDEN], bias2[LABELS];
  float loss, right;
} network;

enum { FLOATS = sizeof(network) / sizeof(float) };

typedef struct activations {
  float hidden[HIDDEN], output[LABELS]; /* output: probabilities */
} activations;

static digit train[DIGITS], held_out[DIGITS];
static int train_count, held_out_count;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "digits: %s: %s\n", what, why);
  exit(EXIT_FAILURE);
}

static void check(tutti_status status, const char *what) {
  if (status != TUTTI_OK)
    fail(what, tutti_last_error());
}

/* ---- data ---- */

static int read_digit(FILE *file, digit *d) {
  int value;
  for (int i = 0; i < PIXELS; i++) {
    if (fscanf(file, "%d,", &value) != 1)
      return 0;
    d->pixel[i] = (float)value / 16;
  }
  return fscanf(file, "%d", &d->label) == 1 && d->label >= 0 && d->label < LABELS;
}

/* Every fifth image is held out: never trained on, so the accuracy on those is honest. */
static void read_digits(const char *path) {
  FILE *file = fopen(path, "r");
  digit d;
  if (!file)
    fail(path, "cannot be opened; give the path of digits.csv as the argument");
  for (int i = 0; i < DIGITS && read_digit(file, &d); i++)
    if (i % HELD_OUT_EVERY == 0)
      held_out[held_out_count++] = d;
    else
      train[train_count++] = d;
  fclose(file);
  if (train_count + held_out_count != DIGITS)
    fail(path, "is not the file of 1,797 digits that examples/data/README.md describes");
}

/* The file in the source tree that this program was built from. */
static const char *default_path(void) {
  static char path[4096];
  const char *slash = strrchr(__FILE__, '/');
  int folder = slash ? (int)(slash - __FILE__) : 0;
  snprintf(path, sizeof path, "%.*s/data/digits.csv", folder ? folder : 1, folder ? __FILE__ : ".");
  return path;
}

/* ---- random numbers: the same on every rank ---- */

static uint32_t random_below(uint32_t limit) {
  static uint64_t state = 2026;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state >> 33) * limit >> 31);
}

static float random_weight(float scale) { return scale * ((float)random_below(1 << 20) / (1 << 19) - 1); }

static void init_network(network *net) {
  float *weight1 = net->weight1[0], *weight2 = net->weight2[0];
  memset(net, 0, sizeof *net);
  for (int i = 0; i < HIDDEN * PIXELS; i++)
    weight1[i] = random_weight(sqrtf(6.0f / (float)PIXELS));
  for (int i = 0; i < LABELS * HIDDEN; i++)
    weight2[i] = random_weight(sqrtf(6.0f / (float)HIDDEN));
}

static void shuffle(int *order, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = (int)random_below((uint32_t)i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* ---- the network ---- */

static float dot(const float *a, const float *b, int count) {
  float sum = 0;
  for (int i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

static void add_scaled(float *to, float scale, const float *from, int count) {
  for (int i = 0; i < count; i++)
    to[i] += scale * from[i];
}

static void softmax(float value[LABELS]) {
  float largest = value[0], sum = 0;
  for (int i = 1; i < LABELS; i++)
    largest = fmaxf(largest, value[i]);
  for (int i = 0; i < LABELS; i++)
    sum += value[i] = expf(value[i] - largest);
  for (int i = 0; i < LABELS; i++)
    value[i] /= sum;
}

/* Returns the label that the network thinks it sees. */
static int forward(const network *net, const digit *d, activations *act) {
  int best = 0;
  for (int h = 0; h < HIDDEN; h++)
    act->hidden[h] = fmaxf(0, net->bias1[h] + dot(net->weight1[h], d->pixel, PIXELS));
  for (int l = 0; l < LABELS; l++)
    act->output[l] = net->bias2[l] + dot(net->weight2[l], act->hidden, HIDDEN);
  softmax(act->output);
  for (int l = 1; l < LABELS; l++)
    best = act->output[l] > act->output[best] ? l : best;
  return best;
}

/* Adds one image's gradient. */
static void backward(const network *net, const digit *d, const activations *act, network *gradient) {
  float back[HIDDEN] = {0};
  for (int l = 0; l < LABELS; l++) {
    float error = act->output[l] - (l == d->label ? 1.0f : 0.0f);
    add_scaled(gradient->weight2[l], error, act->hidden, HIDDEN);
    add_scaled(back, error, net->weight2[l], HIDDEN);
    gradient->bias2[l] += error;
  }
  for (int h = 0; h < HIDDEN; h++) {
    float error = act->hidden[h] > 0 ? back[h] : 0;
    add_scaled(gradient->weight1[h], error, d->pixel, PIXELS);
    gradient->bias1[h] += error;
  }
}

static void learn_from(const network *net, const digit *d, network *gradient) {
  activations act;
  int seen = forward(net, d, &act);
  backward(net, d, &act, gradient);
  gradient->loss -= logf(fmaxf(act.output[d->label], 1e-20f));
  gradient->right += seen == d->label ? 1.0f : 0.0f;
}

static void take_step(network *net, network *velocity, const network *gradient, int images) {
  float *n = net->weight1[0], *v = velocity->weight1[0];
  const float *g = gradient->weight1[0];
  for (int i = 0; i < FLOATS - 2; i++) {
    v[i] = momentum * v[i] - learning_rate / (float)images * g[i];
    n[i] += v[i];
  }
}

/* ---- training, all ranks together ---- */

/* One pass over the training images. total: loss and right answers. */
static void run_epoch(network *net, network *velocity, const int *order, tutti_comm *comm, network *total) {
  static network gradient;
  int rank = (int)tutti_comm_rank(comm), size = (int)tutti_comm_size(comm);
  for (int first = 0; first < train_count; first += BATCH) {
    int end = first + BATCH < train_count ? first + BATCH : train_count;
    memset(&gradient, 0, sizeof gradient);
    for (int i = first + rank; i < end; i += size)
      learn_from(net, &train[order[i]], &gradient);
    check(tutti_allreduce(&gradient, &gradient, FLOATS, TUTTI_FLOAT32, TUTTI_SUM, comm), "sum of the gradients");
    take_step(net, velocity, &gradient, end - first);
    total->loss += gradient.loss;
    total->right += gradient.right;
  }
}

static void train_network(network *net, tutti_comm *comm) {
  static network velocity;
  static int order[DIGITS];
  for (int i = 0; i < train_count; i++)
    order[i] = i;
  for (int epoch = 1; epoch <= EPOCHS; epoch++) {
    network total = {.loss = 0};
    shuffle(order, train_count);
    run_epoch(net, &velocity, order, comm, &total);
    if (tutti_comm_rank(comm) == 0 && (epoch == 1 || epoch % REPORT == 0)) {
      printf("epoch %2d of %d: loss %.4f, %5.1f %% of the training images right\n", epoch, EPOCHS,
             (double)total.loss / train_count, 100.0 * (double)total.right / train_count);
      fflush(stdout);
    }
  }
}

static double accuracy(const network *net) {
  activations act;
  int right = 0;
  for (int i = 0; i < held_out_count; i++)
    right += forward(net, &held_out[i], &act) == held_out[i].label;
  return 100.0 * right / held_out_count;
}

/* FNV-1a over the bytes of the weights. */
static int64_t hash_network(const network *net) {
  const unsigned char *byte = (const unsigned char *)net;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < sizeof *net; i++)
    hash = (hash ^ byte[i]) * 1099511628211u;
  return (int64_t)hash;
}

static int same_everywhere(int64_t hash, tutti_comm *comm) {
  int64_t size = tutti_comm_size(comm);
  int64_t *all = calloc((size_t)size, sizeof *all);
  int same = all != NULL;
  if (!all)
    fail("hashes", "no memory");
  check(tutti_allgather(&hash, all, 1, TUTTI_INT64, comm), "hashes of all ranks");
  for (int64_t r = 0; r < size; r++)
    same = same && all[r] == hash;
  free(all);
  return same;
}

int main(int argc, char **argv) {
  static network net;
  tutti_context *context;
  tutti_comm *comm;
  read_digits(argc > 1 ? argv[1] : default_path());
  check(tutti_context_create(NULL, &context), "joining the job");
  check(tutti_comm_create(context, &comm), "communicator");
  init_network(&net);
  if (tutti_comm_rank(comm) == 0)
    printf("%d ranks train on %d digits, %d are held out\n", (int)tutti_comm_size(comm), train_count, held_out_count);
  train_network(&net, comm);
  int64_t hash = hash_network(&net);
  int same = same_everywhere(hash, comm);
  if (tutti_comm_rank(comm) == 0) {
    printf("held-out accuracy %.2f %% (%d images never trained on)\n", accuracy(&net), held_out_count);
    printf("weights %016" PRIx64 ", %s\n", hash, same ? "identical on all ranks" : "DIFFERENT on some ranks");
  }
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
