// bindings/python/torch/running.cpp - works that are under way: see work.hpp.
#include "work.hpp"

#include <algorithm>

namespace tutti_torch {

void take_done(Works *from, Works *done) {
  auto first = std::stable_partition(from->begin(), from->end(), [](const auto &work) { return !work->is_done(); });
  done->insert(done->end(), first, from->end());
  from->erase(first, from->end());
}

void Running::add(c10::intrusive_ptr<Work> work) {
  Works gone; // let go of without the lock: tensors may belong to Python
  std::unique_lock<std::mutex> held(lock_);
  works_.push_back(std::move(work)); // first: it has started, whatever happens to the others
  while (works_.size() > 1) {
    gone.push_back(works_.front());
    held.unlock(); // whoever has asked for its future just now is called back, and may make a call
    bool done = gone.back()->look();
    held.lock();
    if (!done) {
      if (!gone.back()->callbacks && works_.size() > most_)
        sweep(held, &gone);
      return;
    }
    if (!works_.empty() && works_.front().get() == gone.back().get())
      works_.pop_front();
  }
  most_ = FEW;
}

// Behind a message: a recv may be under way as long as the program runs.
void Running::sweep(std::unique_lock<std::mutex> &held, Works *gone) {
  Works all = works_;
  held.unlock();
  for (auto &work : all)
    work->look();
  held.lock();
  take_done(&works_, gone);
  gone->insert(gone->end(), all.begin(), all.end());
  most_ = 2 * works_.size() + FEW;
}

void Running::drain(std::chrono::steady_clock::time_point until) {
  for (;;) {
    c10::intrusive_ptr<Work> work;
    {
      std::lock_guard<std::mutex> held(lock_);
      if (works_.empty())
        return;
      work = std::move(works_.front());
      works_.pop_front();
    }
    if (work->waits_here()) // that wait goes on behind the handler
      continue;
    if (until == std::chrono::steady_clock::time_point::max())
      work->end_with_group();
    else if (!work->requests.empty())
      work->end_by(until);
    if (!work->isSuccess()) // its error is for who waits for it
      raise_python_error_later();
  }
}

} // namespace tutti_torch
