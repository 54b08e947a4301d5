// bindings/python/torch/job.hpp - this process's part of a tutti job, and the communicators of process groups.
//
// The first group makes a context: its ranks meet through the group's c10d Store. Later groups of ranks of the same job
// only agree on a number there. A group whose ranks have no job in common makes a job of its own.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <tutti/tutti.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace tutti_torch {

// Throws what the status and tutti_last_error say; a Python exception that is set (Ctrl-C) goes first.
[[noreturn]] void fail(tutti_status status);
std::exception_ptr make_error(tutti_status status, const std::string &text = "");
// Signals have come that Python has an exception for, which is set then.
bool was_interrupted();
// That exception, which is not set any more; null: there is none. It can be thrown to Python once.
std::exception_ptr take_python_error();
// Where nobody can throw it: Python raises it in its main thread, as soon as code of Python goes on there.
void raise_python_error_later();

// A time limit in milliseconds whose nanoseconds fit 64 bits.
inline std::chrono::milliseconds as_limit(std::chrono::milliseconds limit) {
  return std::min<std::chrono::milliseconds>(limit, std::chrono::hours(24 * 365 * 100));
}

// Lets go of Python's lock where this thread has it. Who waits within tutti may hold a lock while it asks Python
// whether it was interrupted: so nobody may wait for tutti's lock with Python's.
class WithoutGil {
public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  void *state_;
};

class Job {
public:
  // turn: what names this meeting in the store.
  Job(c10::intrusive_ptr<c10d::Store> store, const std::string &turn, int rank, int size,
      std::chrono::milliseconds timeout);
  ~Job();
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;

  tutti_context *context = nullptr;
  std::string id;                 // equal on its ranks, and on no others
  int64_t next_number = 1;        // of communicators; under the lock of `join`
  std::shared_ptr<void> channels; // of messages (p2p.hpp); gone before the context

private:
  const pid_t process_ = getpid(); // that has joined: its forks end without leaving the job
};

struct Comm {
  Comm(std::shared_ptr<Job> job, int64_t number, std::vector<int64_t> ranks);
  ~Comm();
  Comm(const Comm &) = delete;
  Comm &operator=(const Comm &) = delete;

  std::shared_ptr<Job> job;
  int64_t number;             // equal on its ranks, and of no other of their communicators
  int64_t group = number;     // the number of its group's first one
  std::vector<int64_t> ranks; // of the job
  tutti_comm *comm = nullptr;
  std::atomic<int64_t> calls{0}; // collectives that were started

  // Calls on a communicator run one after the other. Between machines each waits for the network now and then, and the
  // links are idle: so a group of several machines has two, whose calls go on beside each other.
  static void add_twin(const std::shared_ptr<Comm> &of, int64_t number);
  // That of the next call, since calls go to both in turn.
  static std::shared_ptr<Comm> next(const std::shared_ptr<Comm> &first);
  // The other of the two, from either; null: there is none.
  std::shared_ptr<Comm> get_twin() const { return twin_ ? twin_ : first_.lock(); }
  // This one is broken, with that error: so is the other one.
  void break_twin(const char *error);

private:
  std::shared_ptr<Comm> twin_; // of the first one; null: there is none
  std::weak_ptr<Comm> first_;  // of the twin
};

// That of this process; null: it is in none.
std::shared_ptr<Job> current_job();

// The communicator of a new group. Collective over its ranks.
std::shared_ptr<Comm> join(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                           std::chrono::milliseconds timeout);

} // namespace tutti_torch
