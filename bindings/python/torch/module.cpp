// bindings/python/torch/module.cpp - the extension tutti.torch._torch: what Python needs of the process group.
#include "allocator.hpp"
#include "callbacks.hpp"
#include "group.hpp"

#include <torch/csrc/utils/pybind.h>

#include <pybind11/chrono.h>

namespace {

c10::intrusive_ptr<tutti_torch::Base> create(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
                                             const std::chrono::duration<float> &timeout, const std::string &name) {
  auto limit = tutti_torch::as_limit(std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  return c10::make_intrusive<tutti_torch::Group>(tutti_torch::join(store, rank, size, limit), rank, size, limit, name);
}

} // namespace

PYBIND11_MODULE(_torch, module) {
  tutti_torch::bind_work(module);
  auto without_gil = pybind11::call_guard<pybind11::gil_scoped_release>();
  module.attr("torch_version") = TORCH_VERSION;
  module.def("create", &create, without_gil, pybind11::arg("store"), pybind11::arg("rank"), pybind11::arg("size"),
             pybind11::arg("timeout"), pybind11::arg("name") = "tutti",
             "The process group of these ranks. name: what torch and its profiler call it.");
  module.def("calls", &tutti_torch::count_calls, "How many calls all groups have made.");
  module.def("share_tensors", &tutti_torch::share_tensors, without_gil, pybind11::arg("on") = true);
  module.def("leave", &tutti_torch::leave, without_gil, pybind11::arg("patience"),
             "The process ends: waits for what is under way, and no longer than `patience`, a timedelta.");
}
