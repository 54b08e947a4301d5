// bindings/python/torch/messages.cpp - send, recv, and recv from any source.
#include "draft.hpp"

#include <c10/util/irange.h>

namespace tutti_torch {

int64_t Group::job_rank(int rank, const char *what) const {
  TORCH_CHECK(rank >= 0 && rank < getSize(), "tutti: ", what, " is ", rank, "; there are ", getSize(), " ranks");
  TORCH_CHECK(rank != getRank(), "tutti: ", what, " is this rank, ", rank);
  return comm_->ranks[size_t(rank)];
}

Group::WorkPtr Group::send(Tensors &tensors, int to, int tag) {
  const auto &tensor = only(tensors, "send's tensors");
  int64_t mine = comm_->ranks[size_t(getRank())], other = job_rank(to, "send's destination");
  Draft draft(this, c10d::OpType::SEND, ":send", tensors, {}, c10d::kUnsetTimeout);
  auto channel = channels_->get(mine, other);
  auto data = const_cast<void *>(draft.in(tensor));
  auto bytes = int64_t(tensor.numel() * tensor.element_size());
  draft.work->words = {comm_->number, tag, bytes};
  std::lock_guard<std::mutex> held(channel->lock);
  draft.start(tutti_broadcast_start(draft.work->words.data(), draft.work->words.data(), sizeof(Header), TUTTI_BYTE, 0,
                                    channel->comm, &draft.request));
  draft.start(tutti_broadcast_start(data, data, bytes, TUTTI_BYTE, 0, channel->comm, &draft.request));
  return draft.go();
}

Group::WorkPtr Group::receive(Tensors &tensors, std::vector<int> from, int tag, c10d::OpType op, const char *title) {
  const auto &tensor = only(tensors, "recv's tensors");
  Draft draft(this, op, title, tensors, tensors, c10d::kUnsetTimeout); // as its input the profiler shows its shape
  auto *work = static_cast<RecvWork *>(draft.work.get());
  work->data = static_cast<char *>(draft.out(tensor));
  work->wanted = {comm_->number, tag, int64_t(tensor.numel() * tensor.element_size())};
  work->ranks = std::move(from);
  for (int rank : work->ranks)
    work->channels.push_back(channels_->get(job_rank(rank, "recv's source"), comm_->ranks[size_t(getRank())]));
  work->want();
  return draft.go();
}

Group::WorkPtr Group::recv(Tensors &tensors, int from, int tag) {
  return receive(tensors, {from}, tag, c10d::OpType::RECV, ":recv");
}

Group::WorkPtr Group::recvAnysource(Tensors &tensors, int tag) {
  std::vector<int> all;
  for (const auto r : c10::irange(getSize()))
    if (r != getRank())
      all.push_back(r);
  return receive(tensors, all, tag, c10d::OpType::RECVANYSOURCE, ":recvAnySource");
}

} // namespace tutti_torch
