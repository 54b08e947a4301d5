// bindings/python/torch/lists.cpp - collectives on lists of tensors: blocks where they lie, or one behind the other where a
// call must have them so.
#include "draft.hpp"

#include <c10/util/irange.h>

namespace tutti_torch {

Group::WorkPtr Group::allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) {
  const auto &input = only(inputs, "allgather's inputs");
  TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == size_t(getSize()), "tutti: allgather's outputs must be ",
              getSize(), " tensors");
  for (const auto &output : outputs[0]) {
    check_tensor(output, "allgather's outputs");
    check_same_type(input, output);
    check_count(output.numel(), input.numel(), "allgather's output");
  }
  Draft draft(this, c10d::OpType::ALLGATHER, ":all_gather", inputs, outputs[0], options.timeout);
  draft.moves(input);
  const void *in = draft.in(input);
  Blocks out = draft.out(outputs[0], inputs);
  draft.start(tutti_allgatherv_start(in, out.base, out.counts, out.offsets, draft.type, draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                                          const c10d::AllgatherOptions &options) {
  TORCH_CHECK(!inputs.empty() && outputs.size() == size_t(getSize()), "tutti: allgather_coalesced has ", inputs.size(),
              " inputs and ", outputs.size(), " lists of outputs; there must be ", getSize());
  for (const auto &input : inputs) {
    check_tensor(input, "allgather_coalesced's inputs");
    check_same_type(input, inputs[0]);
  }
  Tensors all;
  for (const auto &list : outputs) {
    TORCH_CHECK(list.size() == inputs.size(), "tutti: allgather_coalesced has ", inputs.size(), " inputs and ",
                list.size(), " outputs");
    all.insert(all.end(), list.begin(), list.end());
  }
  for (const auto n : c10::irange(all.size())) {
    check_tensor(all[n], "allgather_coalesced's outputs");
    check_same_type(inputs[0], all[n]);
    check_count(all[n].numel(), inputs[n % inputs.size()].numel(), "allgather_coalesced's output");
  }
  Draft draft(this, c10d::OpType::ALLGATHER_COALESCED, ":all_gather", inputs, all, options.timeout);
  draft.moves(inputs[0]);
  at::Tensor flat_input = flatten(inputs), flat = at::empty({getSize() * flat_input.numel()}, flat_input.options());
  const void *in = draft.in(flat_input);
  void *out = draft.out(flat);
  draft.then([flat, all] { unflatten(flat, all); });
  draft.start(tutti_allgather_start(in, out, flat_input.numel() * draft.unit, draft.type, draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) {
  const auto &input = only(inputs, "gather's inputs");
  bool is_root = options.rootRank == getRank();
  TORCH_CHECK(is_root ? outputs.size() == 1 && outputs[0].size() == size_t(getSize()) : outputs.empty(),
              "tutti: gather's outputs must be ", is_root ? getSize() : 0, " tensors on this rank");
  Draft draft(this, c10d::OpType::GATHER, ":gather", inputs, is_root ? outputs[0] : Tensors{}, options.timeout);
  draft.moves(input);
  const void *in = draft.in(input);
  Blocks out{};
  if (is_root) {
    for (const auto &output : outputs[0]) {
      check_tensor(output, "gather's outputs");
      check_same_type(input, output);
      check_count(output.numel(), input.numel(), "gather's output");
    }
    out = draft.out(outputs[0], inputs);
  }
  draft.start(tutti_gatherv_start(in, input.numel() * draft.unit, out.base, out.counts, out.offsets, draft.type,
                                  options.rootRank, draft.comm->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) {
  const auto &output = only(outputs, "scatter's outputs");
  bool is_root = options.rootRank == getRank();
  TORCH_CHECK(is_root ? inputs.size() == 1 && inputs[0].size() == size_t(getSize()) : inputs.empty(),
              "tutti: scatter's inputs must be ", is_root ? getSize() : 0, " tensors on this rank");
  Draft draft(this, c10d::OpType::SCATTER, ":scatter", is_root ? inputs[0] : Tensors{}, outputs, options.timeout);
  draft.moves(output);
  Blocks in{};
  bool met = false;
  if (is_root) {
    for (const auto &input : inputs[0]) {
      check_tensor(input, "scatter's inputs");
      check_same_type(input, output);
      check_count(input.numel(), output.numel(), "scatter's input");
    }
    in = draft.in(inputs[0]);
    met = meet(outputs, inputs[0], getRank());
  }
  void *out = draft.out(output, false, met);
  draft.start(tutti_scatterv_start(in.base, in.counts, in.offsets, out, output.numel() * draft.unit, draft.type,
                                   options.rootRank, draft.comm->comm, &draft.request));
  return draft.go();
}

// Parts may differ in length, alike on all ranks.
Group::WorkPtr Group::reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
                                     const c10d::ReduceScatterOptions &options) {
  const auto &output = only(outputs, "reduce_scatter's outputs");
  TORCH_CHECK(inputs.size() == 1 && inputs[0].size() == size_t(getSize()), "tutti: reduce_scatter's inputs must be ",
              getSize(), " tensors");
  Draft draft(this, c10d::OpType::REDUCE_SCATTER, ":reduce_scatter", inputs[0], outputs, options.timeout);
  for (const auto &input : inputs[0]) {
    check_tensor(input, "reduce_scatter's inputs");
    check_same_type(input, output);
    draft.work->words.push_back(input.numel());
  }
  check_count(output.numel(), inputs[0][size_t(getRank())].numel(), "reduce_scatter's output");
  at::Tensor flat = draft.combines(flatten(inputs[0]), output, options.reduceOp, getSize());
  const void *in = draft.in(flat);
  void *out = draft.out(output);
  draft.start(tutti_reduce_scatterv_start(in, out, draft.work->words.data(), draft.type, draft.op, draft.comm->comm,
                                          &draft.request));
  return draft.go();
}

Group::WorkPtr Group::alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options) {
  TORCH_CHECK(inputs.size() == size_t(getSize()) && outputs.size() == inputs.size(), "tutti: all_to_all has ",
              inputs.size(), " inputs and ", outputs.size(), " outputs; there must be ", getSize());
  Draft draft(this, c10d::OpType::ALLTOALL, ":all_to_all", inputs, outputs, options.timeout);
  draft.moves(inputs[0]);
  for (const auto *list : {&inputs, &outputs})
    for (const auto &tensor : *list) {
      check_tensor(tensor, "all_to_all's tensors");
      check_same_type(inputs[0], tensor);
    }
  Blocks in = draft.in(inputs), out = draft.out(outputs, inputs);
  draft.start(tutti_all_to_allv_start(in.base, in.counts, in.offsets, out.base, out.counts, out.offsets, draft.type,
                                      draft.comm->comm, &draft.request));
  return draft.go();
}

} // namespace tutti_torch
