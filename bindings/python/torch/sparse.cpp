// bindings/python/torch/sparse.cpp - allreduce of sparse tensors, such as the gradients of an embedding.
//
// Ranks have different numbers of elements. So first all ranks say how many they have, and then all gather the indices
// and values of all, and add what has equal indices, in the order of ranks: every rank gets the same bits. The second part
// begins when the first is complete, which is chance; it is on the communicator of the call's callbacks.
#include "draft.hpp"

#include <ATen/ops/sparse_coo_tensor.h>

namespace tutti_torch {

namespace {

constexpr size_t FACTS = 4; // of a rank: elements, axes of their indices, words of a value, and a hash of the shape

int64_t hash_shape(const at::Tensor &tensor) {
  uint64_t hash = 14695981039346656037u;
  for (int64_t size : tensor.sizes())
    hash = (hash ^ uint64_t(size)) * 1099511628211u;
  return int64_t(hash);
}

class SparseWork : public Work {
public:
  using Work::Work;

  tutti_status begin(const at::Tensor &tensor, tutti_type type, bool average, tutti_request **request) {
    tensor_ = tensor;
    type_ = type;
    average_ = average;
    at::Tensor mine = tensor.coalesce();
    indices_ = mine.indices().t().contiguous(); // a row for each element
    values_ = mine.values().contiguous();
    int64_t value = 1;
    for (int64_t size : mine.sizes().slice(size_t(mine.sparse_dim())))
      value *= size;
    facts_ = {mine._nnz(), mine.sparse_dim(), value, hash_shape(mine)};
    all_.resize(comm()->ranks.size() * FACTS);
    return tutti_allgather_start(facts_.data(), all_.data(), FACTS, TUTTI_INT64, comm()->comm, request);
  }

protected:
  bool step(bool late, tutti_status *status) override {
    if (!Work::step(late, status))
      return false;
    if (*status != TUTTI_OK || gathers_)
      return true;
    *status = gather();
    return *status != TUTTI_OK || Work::step(late, status);
  }

  tutti_status wait_for(std::chrono::milliseconds limit) override {
    tutti_status status = Work::wait_for(limit);
    if (status == TUTTI_OK && !gathers_)
      status = gather();
    return status == TUTTI_OK ? Work::wait_for(limit) : status;
  }

  bool is_on_comm() const override { return !gathers_; }

private:
  void request(tutti_status status) {
    if (status != TUTTI_OK)
      fail(status);
    requests.push_back(next_);
    next_ = nullptr;
  }

  tutti_status gather() {
    gathers_ = true;
    for (size_t r = 0; r < all_.size() / FACTS; r++)
      for (size_t n = 1; n < FACTS; n++)
        if (all_[r * FACTS + n] != facts_[n]) {
          error_text = "all_reduce of a sparse tensor: rank " + std::to_string(r) + " has one of another shape";
          return TUTTI_ERR_MISMATCH;
        }
    try {
      start_gathering();
    } catch (const std::exception &error) {
      error_text = error.what();
      return TUTTI_ERR_ARGUMENT;
    }
    tell_when_complete();
    return TUTTI_OK;
  }

  void start_gathering() {
    int64_t total = 0, value = facts_[2], axes = facts_[1];
    for (size_t r = 0; r < all_.size(); r += FACTS) {
      total += all_[r];
      index_counts_.push_back(all_[r] * axes);
      value_counts_.push_back(all_[r] * value);
    }
    at::Tensor every_index = at::empty({total, axes}, indices_.options());
    auto shape = values_.sizes().vec();
    shape[0] = total;
    at::Tensor every_value = at::empty(shape, values_.options());
    auto own = callbacks->get_comm();
    held.insert(held.end(), {indices_, values_, every_index, every_value});
    request(tutti_allgatherv_start(indices_.data_ptr(), every_index.data_ptr(), index_counts_.data(), nullptr, TUTTI_INT64,
                                   own->comm, &next_));
    request(tutti_allgatherv_start(values_.data_ptr(), every_value.data_ptr(), value_counts_.data(), nullptr, type_,
                                   own->comm, &next_));
    after = [this, every_index, every_value] {
      at::Tensor sum = at::sparse_coo_tensor(every_index.t(), every_value, tensor_.sizes()).coalesce();
      if (average_)
        sum.div_(int64_t(comm()->ranks.size()));
      tensor_.copy_(sum);
    };
  }

  at::Tensor tensor_, indices_, values_;
  tutti_type type_ = TUTTI_BYTE;
  bool average_ = false, gathers_ = false;
  std::vector<int64_t> facts_, all_, index_counts_, value_counts_;
  tutti_request *next_ = nullptr;
};

} // namespace

void bind_sparse_work(pybind11::module_ &module) {
  pybind11::class_<SparseWork, c10::intrusive_ptr<SparseWork>, Work>(module, "SparseWork");
}

Group::WorkPtr Group::allreduce_sparse_tensor(Tensors &tensors, const c10d::AllreduceOptions &options) {
  const auto &tensor = tensors[0];
  auto op = options.reduceOp.op_;
  TORCH_CHECK(tensor.device().is_cpu(), "tutti: allreduce's tensor is on ", tensor.device());
  TORCH_CHECK(op == c10d::ReduceOp::SUM || op == c10d::ReduceOp::AVG,
              "tutti: sparse tensors can be summed and averaged, not combined by operator ", int(op));
  Draft draft(this, c10d::OpType::ALLREDUCE, ":sparse_all_reduce", tensors, tensors, options.timeout);
  draft.combines(tensor, at::Tensor(), c10d::ReduceOp::SUM, getSize()); // its type
  auto work = c10::make_intrusive<SparseWork>(draft.comm, getRank(), c10d::OpType::ALLREDUCE,
                                              (name_ + ":sparse_all_reduce").c_str(), tensors, tensors,
                                              limit_of(options.timeout));
  draft.work = work;
  draft.start(work->begin(tensor, draft.type, op == c10d::ReduceOp::AVG, &draft.request));
  work->complete_in_time();
  return draft.go();
}

} // namespace tutti_torch
