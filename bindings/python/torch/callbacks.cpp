// bindings/python/torch/callbacks.cpp - see callbacks.hpp.
#include "callbacks.hpp"

namespace tutti_torch {

namespace {

constexpr int64_t FIRST_CALLBACKS = int64_t(1) << 30, NUMBERS = int64_t(1) << 30; // those of messages are higher
constexpr int64_t CALLS = 4096; // of a communicator, whose callbacks may be under way together
constexpr int NESTED_BITS = 29;
constexpr int64_t FIRST_NESTED = int64_t(1) << NESTED_BITS; // of calls in callbacks; those of groups are lower

} // namespace

thread_local Callbacks *Callbacks::running_ = nullptr;

// There are not enough numbers for each nested one: they are spread, so that two that are under way hardly ever meet.
int64_t Callbacks::number() const {
  int64_t place = of_->number * CALLS + call_ % CALLS;
  if (of_->number < FIRST_NESTED)
    return FIRST_CALLBACKS + place % NUMBERS;
  return FIRST_NESTED + int64_t(uint64_t(place) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NESTED_BITS));
}

std::shared_ptr<Comm> Callbacks::get_comm() {
  std::lock_guard<std::mutex> held(lock_);
  if (!own_) {
    own_ = std::make_shared<Comm>(of_->job, number(), of_->ranks);
    own_->group = of_->group;
  }
  return own_;
}

std::shared_ptr<Comm> Callbacks::find_comm(const std::shared_ptr<Comm> &comm) {
  bool own = running_ && running_->of_->job == comm->job && running_->of_->group == comm->group;
  return own ? running_->get_comm() : Comm::next(comm);
}

} // namespace tutti_torch
