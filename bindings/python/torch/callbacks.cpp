// bindings/python/torch/callbacks.cpp - see callbacks.hpp.
#include "callbacks.hpp"

namespace tutti_torch {

namespace {

constexpr int64_t FIRST_CALLBACKS = int64_t(1) << 30, NUMBERS = int64_t(1) << 30; // those of messages are higher
constexpr int64_t CALLS = 4096; // of a communicator, whose callbacks may be under way together

} // namespace

thread_local Callbacks *Callbacks::running_ = nullptr;

std::shared_ptr<Comm> Callbacks::get_comm() {
  std::lock_guard<std::mutex> held(lock_);
  if (!own_) {
    int64_t number = FIRST_CALLBACKS + (of_->number * CALLS + call_ % CALLS) % NUMBERS;
    own_ = std::make_shared<Comm>(of_->job, number, of_->ranks);
  }
  return own_;
}

std::shared_ptr<Comm> Callbacks::find_comm(const std::shared_ptr<Comm> &comm) {
  return running_ && comm->is_or_has(running_->of_) ? running_->get_comm() : Comm::next(comm);
}

} // namespace tutti_torch
