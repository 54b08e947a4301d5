// bindings/python/torch/draft.hpp - a work in the making: torch's tensors and operators as tutti's buffers, types and
// operators.
#pragma once

#include "callbacks.hpp"
#include "group.hpp"

namespace tutti_torch {

void check_tensor(const at::Tensor &tensor, const char *what);
// The one tensor of a list.
const at::Tensor &only(const std::vector<at::Tensor> &tensors, const char *what);
void check_count(int64_t count, int64_t wanted, const char *what);
void check_same_type(const at::Tensor &a, const at::Tensor &b);
// One behind the other, each flat; and back.
at::Tensor flatten(const std::vector<at::Tensor> &tensors);
void unflatten(const at::Tensor &flat, const std::vector<at::Tensor> &tensors);

// Whether two share memory that one of them is written to. Where one side has one tensor, it may be the other's at this
// rank's place.
bool meet(const std::vector<at::Tensor> &outputs, const std::vector<at::Tensor> &inputs, int rank);

// Blocks of one buffer, in elements of the call's type. The lists are the work's.
struct Blocks {
  void *base;
  const int64_t *counts, *offsets;
};

struct Group::Draft {
  // title: for the profiler, behind the name of the group: ":all_reduce". Messages have communicators of their own.
  Draft(Group *of, c10d::OpType kind, const char *title, const Tensors &inputs, const Tensors &outputs,
        std::chrono::milliseconds timeout);
  // What has started runs on, though a later step has failed.
  ~Draft();

  // Memory that the call reads; `copy`: memory of its own.
  const void *in(const at::Tensor &tensor, bool copy = false);
  // Memory that it writes; `fill`: it reads it, too.
  void *out(const at::Tensor &tensor, bool fill = false, bool copy = false);
  // A list's tensors, where they lie. Outputs that meet each other or an input get memory of their own.
  Blocks in(const Tensors &list);
  Blocks out(const Tensors &list, const Tensors &inputs);
  void then(std::function<void()> what);
  // Elements as they are moved: of their type, or as bytes.
  void moves(const at::Tensor &tensor);
  // What is combined: the input with what torch's operator adds to it. Averages of complex numbers are divided here.
  at::Tensor combines(const at::Tensor &input, const at::Tensor &output, const c10d::ReduceOp &of, int64_t size);
  // `request` was started, or the error is thrown.
  void start(tutti_status status);
  WorkPtr go();

  Group *group;
  std::shared_ptr<Comm> comm; // of the call
  c10::intrusive_ptr<Work> work;
  tutti_type type = TUTTI_BYTE;
  tutti_op op = TUTTI_SUM;
  int64_t unit = 1; // elements of `type` in one of torch's
  tutti_request *request = nullptr;
  bool is_message = false, gone = false;

private:
  Blocks blocks(const std::vector<const char *> &places, const Tensors &list);
};

} // namespace tutti_torch
