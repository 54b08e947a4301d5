// bindings/python/torch/group.cpp - see group.hpp.
#include "group.hpp"

#include <pthread.h>
#include <set>

namespace tutti_torch {

namespace {

struct All {
  std::mutex lock;
  std::set<Group *> groups;
  std::atomic<bool> leaving{false};
};

// Never destroyed. A forked process has none of the groups of its parent.
All *all_groups = [] {
  pthread_atfork(nullptr, nullptr, [] { all_groups = new All; });
  return new All;
}();

std::atomic<uint64_t> all_calls{0};

} // namespace

Group::Group(std::shared_ptr<Comm> comm, int rank, int size, std::chrono::milliseconds timeout, std::string name)
    : Base(rank, size), comm_(std::move(comm)), channels_(Channels::of(*comm_->job)), timeout_(timeout),
      name_(std::move(name)) {
  std::lock_guard<std::mutex> held(all_groups->lock);
  all_groups->groups.insert(this);
}

Group::~Group() {
  WithoutGil without; // what it waits for may need Python
  bool is_mine;
  {
    std::lock_guard<std::mutex> held(all_groups->lock);
    is_mine = all_groups->groups.erase(this) > 0;
  }
  if (!is_mine || all_groups->leaving)
    return;
  drain(std::chrono::steady_clock::time_point::max());
  tidy_completing();
}

void leave(std::chrono::milliseconds patience) {
  auto until = std::chrono::steady_clock::now() + patience;
  all_groups->leaving = true;
  std::set<Group *> groups;
  {
    std::lock_guard<std::mutex> held(all_groups->lock);
    groups = all_groups->groups;
  }
  for (Group *group : groups)
    group->drain(until);
  stop_completing(until);
  tidy_completing();
}

uint64_t count_calls() { return all_calls.load(); }

void Group::count() {
  calls_++;
  all_calls++;
}

void Group::setSequenceNumberForGroup() {}

uint64_t Group::getSequenceNumberForGroup() { return calls_.load(); }

} // namespace tutti_torch
