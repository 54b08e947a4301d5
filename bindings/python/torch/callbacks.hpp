// bindings/python/torch/callbacks.hpp - calls that callbacks of a future make: PowerSGD's, for example.
//
// Calls on one communicator have one order on all ranks, but which rank's callbacks run when is chance. So the calls that
// callbacks of a collective's future make on its group have a communicator of their own. Its number follows from the
// collective's place in the order of its communicator's calls, which is equal on all ranks. Such calls may have callbacks
// that make calls, and so on.
#pragma once

#include "job.hpp"

#include <torch/csrc/utils/pybind.h>

#include <mutex>

namespace tutti_torch {

class Callbacks {
public:
  Callbacks(std::shared_ptr<Comm> of, int64_t call) : of_(std::move(of)), call_(call) {}

  // Theirs.
  std::shared_ptr<Comm> get_comm();
  // What a call of this thread uses, on the group whose communicator that is.
  static std::shared_ptr<Comm> find_comm(const std::shared_ptr<Comm> &comm);

  // This thread runs such callbacks.
  class Scope {
  public:
    explicit Scope(Callbacks *of) : before_(running_) { running_ = of; }
    ~Scope() { running_ = before_; }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Callbacks *before_;
  };

private:
  int64_t number() const; // of their communicator

  static thread_local Callbacks *running_;

  std::shared_ptr<Comm> of_;
  int64_t call_;
  std::mutex lock_;
  std::shared_ptr<Comm> own_; // once they make a call
};

// Python's view of works and their futures: futures.cpp, sparse.cpp.
void bind_work(pybind11::module_ &module);
void bind_sparse_work(pybind11::module_ &module);

} // namespace tutti_torch
