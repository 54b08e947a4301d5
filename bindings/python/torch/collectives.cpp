// bindings/python/torch/collectives.cpp - collectives on whole tensors.
#include "draft.hpp"

#include <c10/util/irange.h>

namespace tutti_torch {

Group::WorkPtr Group::broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) {
  const auto &tensor = only(tensors, "broadcast's tensors");
  Draft draft(this, c10d::OpType::BROADCAST, ":broadcast", tensors, tensors, options.timeout);
  draft.moves(tensor);
  void *data = draft.out(tensor, true);
  draft.start(tutti_broadcast_start(data, data, tensor.numel() * draft.unit, draft.type, options.rootRank, draft.comm->comm,
                                    &draft.request));
  return draft.go();
}

Group::WorkPtr Group::allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) {
  if (tensors.size() > 1)
    return allreduce_coalesced(tensors, {options});
  if (tensors.size() == 1 && tensors[0].defined() && tensors[0].is_sparse())
    return allreduce_sparse_tensor(tensors, options);
  const auto &tensor = only(tensors, "allreduce's tensors");
  Draft draft(this, c10d::OpType::ALLREDUCE, ":all_reduce", tensors, tensors, options.timeout);
  void *out = draft.out(tensor, true);
  at::Tensor input = draft.combines(tensor, tensor, options.reduceOp, getSize());
  const void *in = input.is_same(tensor) ? out : draft.in(input);
  draft.start(tutti_allreduce_start(in, out, tensor.numel(), draft.type, draft.op, draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) {
  TORCH_CHECK(!tensors.empty(), "tutti: allreduce_coalesced needs a tensor");
  for (const auto &tensor : tensors) {
    check_tensor(tensor, "allreduce_coalesced's tensors");
    check_same_type(tensors[0], tensor);
  }
  Draft draft(this, c10d::OpType::ALLREDUCE_COALESCED, ":all_reduce", tensors, tensors, options.timeout);
  at::Tensor flat = flatten(tensors);
  void *out = draft.out(flat);
  at::Tensor input = draft.combines(flat, flat, options.reduceOp, getSize());
  const void *in = input.is_same(flat) ? out : draft.in(input);
  draft.then([flat, tensors] { unflatten(flat, tensors); });
  draft.start(tutti_allreduce_start(in, out, flat.numel(), draft.type, draft.op, draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::reduce(Tensors &tensors, const c10d::ReduceOptions &options) {
  const auto &tensor = only(tensors, "reduce's tensors");
  bool is_root = options.rootRank == getRank();
  Draft draft(this, c10d::OpType::REDUCE, ":reduce", tensors, tensors, options.timeout);
  at::Tensor input = draft.combines(tensor, is_root ? tensor : at::Tensor(), options.reduceOp, getSize());
  void *out = is_root ? draft.out(tensor, true) : nullptr;
  const void *in = is_root && input.is_same(tensor) ? out : draft.in(input);
  draft.start(
      tutti_reduce_start(in, out, tensor.numel(), draft.type, draft.op, options.rootRank, draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::gather_into(const Tensors &outputs, const Tensors &inputs, c10d::OpType kind, const char *title,
                                  std::chrono::milliseconds timeout) {
  TORCH_CHECK(inputs.size() == outputs.size(), "tutti: all_gather_into_tensor has ", inputs.size(), " inputs and ",
              outputs.size(), " outputs");
  Draft draft(this, kind, title, inputs, outputs, timeout);
  for (const auto n : c10::irange(inputs.size())) { // all of them before the first call starts
    check_tensor(inputs[n], "all_gather_into_tensor's input");
    check_tensor(outputs[n], "all_gather_into_tensor's output");
    check_same_type(inputs[n], outputs[n]);
    check_count(outputs[n].numel(), inputs[n].numel() * getSize(), "all_gather_into_tensor's output");
  }
  for (const auto n : c10::irange(inputs.size())) {
    draft.moves(inputs[n]);
    const void *in = draft.in(inputs[n]);
    void *out = draft.out(outputs[n]);
    draft.start(
        tutti_allgather_start(in, out, inputs[n].numel() * draft.unit, draft.type, draft.comm->comm, &draft.request));
  }
  return draft.go();
}

Group::WorkPtr Group::scatter_sum(const Tensors &outputs, const Tensors &inputs, const c10d::ReduceOp &op,
                                  c10d::OpType kind, const char *title, std::chrono::milliseconds timeout) {
  TORCH_CHECK(inputs.size() == outputs.size(), "tutti: reduce_scatter_tensor has ", inputs.size(), " inputs and ",
              outputs.size(), " outputs");
  Draft draft(this, kind, title, inputs, outputs, timeout);
  struct Call {
    const void *in;
    void *out;
    tutti_type type;
    tutti_op op;
  };
  std::vector<Call> calls; // the first one starts when all of them are checked
  for (const auto n : c10::irange(inputs.size())) {
    check_tensor(inputs[n], "reduce_scatter_tensor's input");
    check_tensor(outputs[n], "reduce_scatter_tensor's output");
    check_same_type(inputs[n], outputs[n]);
    check_count(inputs[n].numel(), outputs[n].numel() * getSize(), "reduce_scatter_tensor's input");
    const void *in = draft.in(draft.combines(inputs[n], outputs[n], op, getSize()));
    calls.push_back({in, draft.out(outputs[n]), draft.type, draft.op});
  }
  for (const auto n : c10::irange(inputs.size()))
    draft.start(tutti_reduce_scatter_start(calls[n].in, calls[n].out, outputs[n].numel(), calls[n].type, calls[n].op,
                                           draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::_allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options) {
  return gather_into({output}, {input}, c10d::OpType::_ALLGATHER_BASE, ":_all_gather_base", options.timeout);
}

Group::WorkPtr Group::_reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                                           const c10d::ReduceScatterOptions &options) {
  return scatter_sum({output}, {input}, options.reduceOp, c10d::OpType::_REDUCE_SCATTER_BASE, ":_reduce_scatter_base",
                     options.timeout);
}

namespace {

// Elements of each part of a tensor whose first axis is split so; evenly where `splits` is empty.
void push_splits(const at::Tensor &tensor, const std::vector<int64_t> &splits, int size, int64_t unit, const char *what,
                 std::vector<int64_t> *words) {
  int64_t rows = tensor.dim() > 0 ? tensor.size(0) : 1, sum = 0;
  int64_t each = rows > 0 ? tensor.numel() / rows : 0;
  TORCH_CHECK(splits.empty() ? rows % size == 0 : splits.size() == size_t(size), "tutti: ", what, " has ", rows,
              " rows and ", splits.size(), " splits for ", size, " ranks");
  for (const auto r : c10::irange(size)) {
    int64_t part = splits.empty() ? rows / size : splits[size_t(r)];
    TORCH_CHECK(part >= 0, "tutti: a split of ", what, " is ", part);
    words->push_back(part * each * unit);
    sum += part;
  }
  TORCH_CHECK(sum == rows, "tutti: the splits of ", what, " are ", sum, " rows together; it has ", rows);
}

} // namespace

Group::WorkPtr Group::alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_splits,
                                    std::vector<int64_t> &input_splits, const c10d::AllToAllOptions &options) {
  Tensors inputs{input}, outputs{output};
  check_tensor(input, "all_to_all_single's input");
  check_tensor(output, "all_to_all_single's output");
  check_same_type(input, output);
  Draft draft(this, c10d::OpType::ALLTOALL_BASE, ":all_to_all", inputs, outputs, options.timeout);
  draft.moves(input);
  auto &words = draft.work->words;
  push_splits(input, input_splits, getSize(), draft.unit, "all_to_all_single's input", &words);
  push_splits(output, output_splits, getSize(), draft.unit, "all_to_all_single's output", &words);
  const void *in = draft.in(input);
  void *out = draft.out(output);
  if (input_splits.empty() && output_splits.empty() && input.numel() == output.numel())
    draft.start(tutti_all_to_all_start(in, out, words[0], draft.type, draft.comm->comm, &draft.request));
  else
    draft.start(tutti_all_to_allv_start(in, words.data(), nullptr, out, words.data() + getSize(), nullptr, draft.type,
                                        draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::barrier(const c10d::BarrierOptions &options) {
  Draft draft(this, c10d::OpType::BARRIER, ":barrier", {}, {}, options.timeout);
  draft.start(tutti_barrier_start(draft.comm->comm, &draft.request));
  if (auto twin = draft.comm->get_twin()) // behind a barrier all earlier calls are complete
    draft.start(tutti_barrier_start(twin->comm, &draft.request));
  return draft.go();
}

// The error of a time limit names every rank that is missing.
void Group::monitoredBarrier(const c10d::BarrierOptions &options, bool) { barrier(options)->wait(); }

#if TORCH_VERSION_MAJOR >= 2

Group::WorkPtr Group::allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                                      const c10d::AllgatherOptions &options) {
  return gather_into(outputs, inputs, c10d::OpType::ALLGATHER_COALESCED, ":all_gather_into_tensor_coalesced",
                     options.timeout);
}

Group::WorkPtr Group::reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                                      const c10d::ReduceScatterOptions &options) {
  return scatter_sum(outputs, inputs, options.reduceOp, c10d::OpType::REDUCE_SCATTER,
                     ":reduce_scatter_tensor_coalesced", options.timeout);
}

#endif

} // namespace tutti_torch
