// bindings/python/torch/group.hpp - a process group of c10d: torch's collectives on a communicator of tutti.
#pragma once

#include "p2p.hpp"

#include <torch/version.h>

#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace tutti_torch {

#if TORCH_VERSION_MAJOR >= 2
using Base = c10d::Backend;
#else
using Base = c10d::ProcessGroup;
#endif

class Group : public Base {
public:
  using Tensors = std::vector<at::Tensor>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  Group(std::shared_ptr<Comm> comm, int rank, int size, std::chrono::milliseconds timeout, std::string name);
  ~Group() override;

  const std::string getBackendName() const override { return name_; }

  WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) override;
  WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) override;
  WorkPtr allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) override;
  WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &options) override;
  WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) override;
  WorkPtr _allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options) override;
  WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                              const c10d::AllgatherOptions &options) override;
  WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) override;
  WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) override;
  WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
                         const c10d::ReduceScatterOptions &options) override;
  WorkPtr _reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                               const c10d::ReduceScatterOptions &options) override;
  WorkPtr alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_splits,
                        std::vector<int64_t> &input_splits, const c10d::AllToAllOptions &options) override;
  WorkPtr alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options) override;
  WorkPtr send(Tensors &tensors, int to, int tag) override;
  WorkPtr recv(Tensors &tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors &tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions &options) override;
  void monitoredBarrier(const c10d::BarrierOptions &options, bool all_ranks) override;
  void setSequenceNumberForGroup() override;
  uint64_t getSequenceNumberForGroup() override;
#if TORCH_VERSION_MAJOR >= 2
  WorkPtr allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                          const c10d::AllgatherOptions &options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                          const c10d::ReduceScatterOptions &options) override;
#endif

  void drain(std::chrono::steady_clock::time_point until) { running_.drain(until); }

private:
  void count(); // a call
  // Of several tensors, each with a call of its own.
  WorkPtr gather_into(const Tensors &outputs, const Tensors &inputs, c10d::OpType kind, const char *title,
                      std::chrono::milliseconds timeout);
  WorkPtr scatter_sum(const Tensors &outputs, const Tensors &inputs, const c10d::ReduceOp &op, c10d::OpType kind,
                      const char *title, std::chrono::milliseconds timeout);

  struct Draft; // of a work: group.cpp

  WorkPtr allreduce_sparse_tensor(Tensors &tensors, const c10d::AllreduceOptions &options);
  WorkPtr receive(Tensors &tensors, std::vector<int> from, int tag, c10d::OpType op, const char *title);
  std::chrono::milliseconds limit_of(std::chrono::milliseconds timeout) const {
    return timeout == c10d::kUnsetTimeout ? timeout_ : as_limit(timeout);
  }
  int64_t job_rank(int rank, const char *what) const;

  std::shared_ptr<Comm> comm_;
  std::shared_ptr<Channels> channels_; // of the job
  std::chrono::milliseconds timeout_;
  std::string name_;
  Running running_;
  std::atomic<uint64_t> calls_{0};
};

// The process ends: waits no longer than that for what is under way in every group, and for callbacks.
void leave(std::chrono::milliseconds patience);
uint64_t count_calls();

} // namespace tutti_torch
