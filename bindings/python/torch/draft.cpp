// bindings/python/torch/draft.cpp - element types, operators and tensors; and works in the making.
#include "draft.hpp"

namespace tutti_torch {

namespace {

// ---- element types and operators ----

// Of what is only moved, bytes do for every type.
bool find_type(at::ScalarType of, tutti_type *type) {
  switch (of) {
  case at::kFloat:
    *type = TUTTI_FLOAT32;
    return true;
  case at::kDouble:
    *type = TUTTI_FLOAT64;
    return true;
  case at::kHalf:
    *type = TUTTI_FLOAT16;
    return true;
  case at::kBFloat16:
    *type = TUTTI_BFLOAT16;
    return true;
  case at::kChar:
    *type = TUTTI_INT8;
    return true;
  case at::kByte:
    *type = TUTTI_UINT8;
    return true;
  case at::kShort:
    *type = TUTTI_INT16;
    return true;
  case at::kInt:
    *type = TUTTI_INT32;
    return true;
  case at::kLong:
    *type = TUTTI_INT64;
    return true;
  case at::kBool:
    *type = TUTTI_BOOL;
    return true;
  case at::kComplexFloat:
    *type = TUTTI_COMPLEX64;
    return true;
  case at::kComplexDouble:
    *type = TUTTI_COMPLEX128;
    return true;
  default:
    return false;
  }
}

using RedOp = c10d::ReduceOp::RedOpType;

// Sums of bool are "or", products "and", as elsewhere in torch.
tutti_op find_op(RedOp of, at::ScalarType type) {
  bool is_bool = type == at::kBool;
  switch (of) {
  case RedOp::SUM:
  case RedOp::PREMUL_SUM:
    return is_bool ? TUTTI_LOGICAL_OR : TUTTI_SUM;
  case RedOp::AVG:
    return at::isComplexType(type) ? TUTTI_SUM : TUTTI_AVERAGE;
  case RedOp::PRODUCT:
    return is_bool ? TUTTI_LOGICAL_AND : TUTTI_PRODUCT;
  case RedOp::MIN:
    return is_bool ? TUTTI_LOGICAL_AND : TUTTI_MIN;
  case RedOp::MAX:
    return is_bool ? TUTTI_LOGICAL_OR : TUTTI_MAX;
  case RedOp::BAND:
    return is_bool ? TUTTI_LOGICAL_AND : TUTTI_BIT_AND;
  case RedOp::BOR:
    return is_bool ? TUTTI_LOGICAL_OR : TUTTI_BIT_OR;
  case RedOp::BXOR:
    return is_bool ? TUTTI_LOGICAL_XOR : TUTTI_BIT_XOR;
  default:
    TORCH_CHECK(false, "tutti: reduce operator ", int(of), " is unknown");
  }
}

} // namespace

// ---- tensors ----

void check_tensor(const at::Tensor &tensor, const char *what) {
  TORCH_CHECK(tensor.defined(), "tutti: ", what, " is not defined");
  TORCH_CHECK(tensor.device().is_cpu(), "tutti: ", what, " is on ", tensor.device(),
              "; tutti takes tensors on the CPU");
  TORCH_CHECK(tensor.layout() == at::kStrided, "tutti: ", what, " has layout ", tensor.layout());
}

const at::Tensor &only(const std::vector<at::Tensor> &tensors, const char *what) {
  TORCH_CHECK(tensors.size() == 1, "tutti: ", what, " are ", tensors.size(), " tensors; there must be one");
  check_tensor(tensors[0], what);
  return tensors[0];
}

void check_count(int64_t count, int64_t wanted, const char *what) {
  TORCH_CHECK(count == wanted, "tutti: ", what, " has ", count, " elements; it must have ", wanted);
}

void check_same_type(const at::Tensor &a, const at::Tensor &b) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), "tutti: input has elements of type ", a.scalar_type(),
              ", output of type ", b.scalar_type());
}

at::Tensor flatten(const std::vector<at::Tensor> &tensors) {
  std::vector<at::Tensor> flat;
  for (const auto &tensor : tensors)
    flat.push_back(tensor.reshape({-1}));
  return at::cat(flat);
}

void unflatten(const at::Tensor &flat, const std::vector<at::Tensor> &tensors) {
  int64_t begin = 0;
  for (auto tensor : tensors) {
    tensor.copy_(flat.narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    begin += tensor.numel();
  }
}

// ---- drafts ----

Group::Draft::Draft(Group *of, c10d::OpType kind, const char *title, const Tensors &inputs, const Tensors &outputs,
                    std::chrono::milliseconds timeout)
    : group(of), comm(Callbacks::find_comm(of->comm_)) {
  auto limit = of->limit_of(timeout);
  std::string full = of->name_ + title;
  if (kind == c10d::OpType::RECV || kind == c10d::OpType::RECVANYSOURCE) {
    work = c10::make_intrusive<RecvWork>(comm, of->getRank(), kind, full.c_str(), inputs, outputs, limit);
    return;
  }
  work = c10::make_intrusive<Work>(comm, of->getRank(), kind, full.c_str(), inputs, outputs, limit);
  is_message = kind == c10d::OpType::SEND;
}

namespace {

// Conjugated, or negated, when they are read.
bool is_lazy(const at::Tensor &tensor) { return tensor.is_conj() || tensor.is_neg(); }

at::Tensor resolve(const at::Tensor &tensor) {
  return is_lazy(tensor) ? tensor.resolve_conj().resolve_neg() : tensor;
}

} // namespace

const void *Group::Draft::in(const at::Tensor &tensor, bool copy) {
  at::Tensor values = resolve(tensor);
  at::Tensor whole = copy ? values.clone(at::MemoryFormat::Contiguous) : values.contiguous();
  work->held.push_back(whole);
  return whole.data_ptr();
}

void *Group::Draft::out(const at::Tensor &tensor, bool fill, bool copy) {
  if (tensor.is_contiguous() && !copy && !is_lazy(tensor)) {
    work->held.push_back(tensor);
    return tensor.data_ptr();
  }
  at::Tensor whole = fill ? resolve(tensor).contiguous() : at::empty(tensor.sizes(), tensor.options());
  work->held.push_back(whole);
  auto rest = std::move(work->after); // what the result is made of then comes behind the copy
  work->after = [whole, tensor, rest] {
    tensor.copy_(whole);
    if (rest)
      rest();
  };
  return whole.data_ptr();
}

void Group::Draft::then(std::function<void()> what) {
  auto first = std::move(work->after);
  work->after = first ? [first, what] { first(), what(); } : std::move(what);
}

void Group::Draft::moves(const at::Tensor &tensor) {
  unit = 1;
  if (!find_type(tensor.scalar_type(), &type)) {
    type = TUTTI_BYTE;
    unit = int64_t(tensor.element_size());
  }
}

at::Tensor Group::Draft::combines(const at::Tensor &input, const at::Tensor &output, const c10d::ReduceOp &of,
                                  int64_t size) {
  TORCH_CHECK(find_type(input.scalar_type(), &type), "tutti: elements of type ", input.scalar_type(),
              " cannot be combined");
  op = find_op(of.op_, input.scalar_type());
  if (of.op_ == RedOp::AVG && op == TUTTI_SUM && output.defined())
    then([output, size] { at::Tensor(output).div_(size); });
  if (of.op_ != RedOp::PREMUL_SUM)
    return input;
  auto *factor = static_cast<const c10d::NCCLPreMulSumSupplement *>(of.supplement_.get());
  TORCH_CHECK(factor, "tutti: the operator PREMUL_SUM comes without its factor");
#if TORCH_VERSION_MAJOR >= 2
  const at::Tensor &by = factor->tensor_factor;
#else
  at::Tensor by = factor->tensor_factors.empty() ? at::Tensor() : factor->tensor_factors[0];
#endif
  return (by.defined() ? input * by : input * factor->double_factor).to(input.scalar_type());
}

void Group::Draft::start(tutti_status status) {
  if (status != TUTTI_OK)
    fail(status);
  work->requests.push_back(request);
  request = nullptr;
  if (!is_message && !work->callbacks) // a call that this rank alone fails to start has no number
    work->callbacks = std::make_shared<Callbacks>(comm, comm->calls++);
}

Group::Draft::~Draft() {
  if (!gone && !work->requests.empty())
    group->running_.add(work);
}

Group::WorkPtr Group::Draft::go() {
  gone = true;
  group->running_.add(work);
  group->count();
  return work;
}

} // namespace tutti_torch
