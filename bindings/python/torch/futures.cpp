// bindings/python/torch/futures.cpp - Python's view of works and their futures, whose callbacks may make calls.
#include "callbacks.hpp"
#include "p2p.hpp"

#include <torch/csrc/jit/python/pybind_utils.h>

#include <pybind11/chrono.h>

namespace tutti_torch {

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

// torch's, but a daemon thread may be in it when Python ends.
bool wait(Work &work, std::chrono::milliseconds timeout) {
  WithoutGil without;
  return work.wait(timeout);
}

} // namespace

void bind_work(py::module_ &module) {
  py::class_<Future, std::shared_ptr<Future>, Wrapper>(module, "Future")
      .def("then", &Future::then)
      .def("add_done_callback", &Future::add_done_callback);
  py::class_<Work, c10::intrusive_ptr<Work>, c10d::Work>(module, "Work")
      .def("get_future", &get_future)
      .def("wait", &wait, py::arg("timeout") = kNoTimeout);
  py::class_<RecvWork, c10::intrusive_ptr<RecvWork>, Work>(module, "RecvWork");
  bind_sparse_work(module);
}

} // namespace tutti_torch
