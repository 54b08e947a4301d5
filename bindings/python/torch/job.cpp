// bindings/python/torch/job.cpp - see job.hpp.
#include "job.hpp"

#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <pthread.h>
#include <random>
#include <sstream>
#include <sys/stat.h>

namespace tutti_torch {

namespace {

using Bytes = std::vector<uint8_t>;

// ---- the store: every rank's bytes for all ----

std::string key(const std::string &name, int rank) { return "tutti/" + name + "/" + std::to_string(rank); }

std::vector<Bytes> exchange(c10d::Store &store, const std::string &name, int rank, int size, const Bytes &mine,
                            std::chrono::milliseconds timeout) {
  store.set(key(name, rank), mine);
  std::vector<std::string> keys;
  for (int r = 0; r < size; r++)
    keys.push_back(key(name, r));
  store.wait(keys, timeout);
  std::vector<Bytes> all;
  for (const auto &of : keys)
    all.push_back(store.get(of));
  return all;
}

std::string missing_ranks(c10d::Store &store, const std::string &name, int size) {
  std::ostringstream text;
  for (int r = 0; r < size; r++)
    if (!store.check({key(name, r)}))
      text << (text.tellp() > 0 ? ", " : "") << r;
  return text.str();
}

// ---- the boot of a context ----

struct Boot {
  c10d::Store &store;
  std::string turn;
  int rank, size;
  int times = 0;
  std::string problem{}; // of the store, where it could not say who is missing
};

tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                       size_t missing_size) {
  auto *boot = static_cast<Boot *>(user);
  std::string name = boot->turn + "/boot" + std::to_string(boot->times++);
  auto *begin = static_cast<const uint8_t *>(mine);
  try {
    auto timeout = std::chrono::milliseconds(std::min<int64_t>(timeout_ns / 1000000, 1 << 30));
    auto each = exchange(boot->store, name, boot->rank, boot->size, Bytes(begin, begin + bytes), timeout);
    for (size_t r = 0; r < each.size(); r++) {
      if (each[r].size() != bytes)
        return TUTTI_ERR_MISMATCH;
      std::memcpy(static_cast<char *>(all) + r * bytes, each[r].data(), bytes);
    }
    return TUTTI_OK;
  } catch (const std::exception &error) {
    try {
      snprintf(missing, missing_size, "%s", missing_ranks(boot->store, name, boot->size).c_str());
    } catch (const std::exception &) { // the store has gone
      boot->problem = std::string(": ") + error.what();
    }
    return TUTTI_ERR_TIMEOUT;
  }
}

// Python runs handlers of signals in this one alone. Another one that wants its lock while it ends is ended, in the
// middle of what it does.
bool is_main_thread() { return gettid() == getpid(); }

int interrupted(void *) {
  if (!is_main_thread())
    return 0;
  PyGILState_STATE state = PyGILState_Ensure();
  int stops = PyErr_CheckSignals();
  PyGILState_Release(state);
  return stops;
}

std::string new_id() {
  std::random_device source;
  std::ostringstream text;
  for (int n = 0; n < 4; n++)
    text << std::hex << source();
  return text.str();
}

// ---- what ranks of a new group tell each other ----

struct Hello {
  char id[40];   // of the job that this rank is in; "": none
  char next[40]; // for a new job, of rank 0
  int64_t job_rank, number;
  uint64_t machine; // its boot and its network
};

uint64_t own_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  return std::hash<std::string>()(boot + std::to_string(network.st_ino));
}

std::mutex lock;

// A forked process is in no job.
std::weak_ptr<Job> current = [] {
  pthread_atfork(nullptr, nullptr, [] { current.reset(); });
  return std::weak_ptr<Job>();
}();

// A group of the same name may have been there before, and what it wrote still is: each time has a name.
std::string take_turn(c10d::Store &store, int rank) { return std::to_string(store.add(key("turn", rank), 1)); }

std::vector<Hello> greet(c10d::Store &store, const std::string &turn, int rank, int size, const Hello &mine,
                         std::chrono::milliseconds timeout) {
  auto *begin = reinterpret_cast<const uint8_t *>(&mine);
  auto each = exchange(store, turn + "/hello", rank, size, Bytes(begin, begin + sizeof mine), timeout);
  std::vector<Hello> all(each.size());
  for (size_t r = 0; r < each.size(); r++) {
    TORCH_CHECK(each[r].size() == sizeof mine, "tutti: rank ", r, " has another version of the backend");
    std::memcpy(&all[r], each[r].data(), sizeof mine);
  }
  return all;
}

bool are_one_job(const std::vector<Hello> &all) {
  return *all[0].id &&
         std::all_of(all.begin(), all.end(), [&](const Hello &of) { return !std::strcmp(of.id, all[0].id); });
}

} // namespace

// ---- errors ----

bool was_interrupted() { return interrupted(nullptr) != 0; }

WithoutGil::WithoutGil() : state_(Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr) {}

// Python that ends unwinds this thread, and what called this may not be unwound: the thread stays, as in Python 3.14.
WithoutGil::~WithoutGil() {
  if (!state_)
    return;
  try {
    PyEval_RestoreThread(static_cast<PyThreadState *>(state_));
  } catch (...) {
    for (;;)
      ::pause();
  }
}

std::exception_ptr take_python_error() {
  std::exception_ptr python;
  if (!is_main_thread())
    return python;
  PyGILState_STATE state = PyGILState_Ensure();
  if (PyErr_Occurred())
    python = std::make_exception_ptr(pybind11::error_already_set());
  PyGILState_Release(state);
  return python;
}

static int raise_python_error(void *error) {
  std::unique_ptr<pybind11::error_already_set> taken(static_cast<pybind11::error_already_set *>(error));
  taken->restore();
  return -1;
}

void raise_python_error_later() {
  if (!is_main_thread())
    return;
  PyGILState_STATE state = PyGILState_Ensure();
  if (PyErr_Occurred()) {
    auto error = new pybind11::error_already_set();
    if (Py_AddPendingCall(raise_python_error, error) != 0) // too many others
      delete error;
  }
  PyGILState_Release(state);
}

std::exception_ptr make_error(tutti_status status, const std::string &given) {
  const char *text = given.empty() ? tutti_last_error() : given.c_str();
  return std::make_exception_ptr(
      std::runtime_error(std::string("tutti: ") + (*text ? text : tutti_status_name(status))));
}

void fail(tutti_status status) {
  auto python = take_python_error();
  std::rethrow_exception(python ? python : make_error(status));
}

// ---- jobs ----

Job::Job(c10::intrusive_ptr<c10d::Store> store, const std::string &turn, int rank, int size,
         std::chrono::milliseconds timeout) {
  Boot state{*store, turn, rank, size};
  tutti_boot boot{};
  boot.size = sizeof boot;
  boot.rank = rank;
  boot.rank_count = size;
  boot.user = &state;
  boot.allgather = allgather;
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.boot = &boot;
  options.timeout_ns = std::chrono::nanoseconds(timeout).count();
  tutti_status status = tutti_context_create(&options, &context);
  if (status == TUTTI_OK)
    status = tutti_context_set_interrupted(context, interrupted, nullptr);
  if (status == TUTTI_OK)
    status = tutti_context_progress(context);
  if (status == TUTTI_OK)
    return;
  auto error = make_error(status, tutti_last_error() + state.problem);
  tutti_context_destroy(context); // the others need not take this rank for alive
  std::rethrow_exception(error);
}

Job::~Job() {
  WithoutGil without;
  channels.reset();
  if (process_ == getpid())
    tutti_context_destroy(context);
}

Comm::Comm(std::shared_ptr<Job> of, int64_t numbered, std::vector<int64_t> with)
    : job(std::move(of)), number(numbered), ranks(std::move(with)) {
  tutti_status status = tutti_comm_create_group(job->context, number, int64_t(ranks.size()), ranks.data(), &comm);
  if (status != TUTTI_OK)
    fail(status);
}

Comm::~Comm() {
  WithoutGil without;
  tutti_comm_destroy(comm);
}

void Comm::add_twin(const std::shared_ptr<Comm> &of, int64_t number) {
  of->twin_ = std::make_shared<Comm>(of->job, number, of->ranks);
  of->twin_->first_ = of;
  of->twin_->group = of->group;
}

std::shared_ptr<Comm> Comm::next(const std::shared_ptr<Comm> &first) {
  return first->twin_ && (first->calls + first->twin_->calls) % 2 ? first->twin_ : first;
}

void Comm::break_twin(const char *error) {
  if (auto other = get_twin())
    tutti_comm_abort(other->comm, error);
}

std::shared_ptr<Job> current_job() {
  std::lock_guard<std::mutex> held(lock);
  return current.lock();
}

std::shared_ptr<Comm> join(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                           std::chrono::milliseconds timeout) {
  std::lock_guard<std::mutex> held(lock);
  auto job = current.lock();
  Hello mine{};
  snprintf(mine.id, sizeof mine.id, "%s", job ? job->id.c_str() : "");
  snprintf(mine.next, sizeof mine.next, "%s", new_id().c_str());
  mine.job_rank = job ? tutti_context_rank(job->context) : -1;
  mine.number = job ? job->next_number : 1;
  mine.machine = own_machine();
  std::string turn = take_turn(*store, rank);
  auto all = greet(*store, turn, rank, size, mine, timeout);
  std::vector<int64_t> ranks(all.size());
  if (!are_one_job(all)) {
    job = std::make_shared<Job>(store, turn, rank, size, timeout);
    job->id = all[0].next;
    current = job;
    for (size_t r = 0; r < all.size(); r++)
      all[r].job_rank = int64_t(r), all[r].number = 1;
  }
  int64_t number = 1;
  for (size_t r = 0; r < all.size(); r++) {
    ranks[r] = all[r].job_rank;
    number = std::max(number, all[r].number);
  }
  auto made = std::make_shared<Comm>(job, number++, std::move(ranks));
  if (std::any_of(all.begin(), all.end(), [&](const Hello &of) { return of.machine != all[0].machine; }))
    Comm::add_twin(made, number++);
  job->next_number = number;
  return made;
}

} // namespace tutti_torch
