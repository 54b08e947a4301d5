// bindings/python/torch/callbacks.cpp - see callbacks.hpp.
#include "callbacks.hpp"
#include "work.hpp"

#include <torch/csrc/jit/python/pybind_utils.h>

namespace tutti_torch {

namespace {

constexpr int64_t FIRST_CALLBACKS = int64_t(1) << 30, NUMBERS = int64_t(1) << 30; // those of messages are higher
constexpr int64_t CALLS = 4096; // of a communicator, whose callbacks may be under way together

} // namespace

thread_local Callbacks *Callbacks::running_ = nullptr;

std::shared_ptr<Comm> Callbacks::get_comm() {
  std::lock_guard<std::mutex> held(lock_);
  if (!own_) {
    int64_t number = FIRST_CALLBACKS + (of_->number * CALLS + call_ % CALLS) % NUMBERS;
    own_ = std::make_shared<Comm>(of_->job, number, of_->ranks);
  }
  return own_;
}

std::shared_ptr<Comm> Callbacks::find_comm(const std::shared_ptr<Comm> &comm) {
  return running_ && running_->of_ == comm ? running_->get_comm() : comm;
}

// ---- Python ----

namespace {

namespace py = pybind11;
using Wrapper = torch::jit::PythonFutureWrapper;

// torch's, but its callbacks run as those of a call. The second base keeps pybind11 from asking the first for a pointer to
// this class, which it cannot give; so what needs that pointer is done by a future of torch's.
class __attribute__((visibility("hidden"))) Future : public Wrapper, private std::enable_shared_from_this<Future> {
public:
  Future(c10::intrusive_ptr<c10::ivalue::Future> future, std::shared_ptr<Callbacks> callbacks)
      : Wrapper(std::move(future)), callbacks_(std::move(callbacks)) {}

  std::shared_ptr<Future> then(const py::function &callback) {
    auto next = std::make_shared<Wrapper>(fut)->then(scoped(callback));
    return std::make_shared<Future>(next->fut, callbacks_);
  }

  void add_done_callback(const py::function &callback) {
    std::make_shared<Wrapper>(fut)->add_done_callback(scoped(callback));
  }

private:
  py::function scoped(const py::function &callback) const {
    return py::cpp_function([callback, callbacks = callbacks_](const py::object &future) {
      Callbacks::Scope scope(callbacks.get());
      return callback(future);
    });
  }

  std::shared_ptr<Callbacks> callbacks_;
};

py::object get_future(Work &work) {
  auto future = work.getFuture();
  if (work.callbacks)
    return py::cast(std::make_shared<Future>(future, work.callbacks));
  return py::cast(std::make_shared<Wrapper>(future));
}

} // namespace

void bind_work(py::module_ &module) {
  py::class_<Future, std::shared_ptr<Future>, Wrapper>(module, "Future")
      .def("then", &Future::then)
      .def("add_done_callback", &Future::add_done_callback);
  py::class_<Work, c10::intrusive_ptr<Work>, c10d::Work>(module, "Work").def("get_future", &get_future);
  bind_sparse_work(module);
}

} // namespace tutti_torch
