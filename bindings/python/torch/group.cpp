// bindings/python/torch/group.cpp - see group.hpp.
#include "group.hpp"

#include <set>

namespace tutti_torch {

namespace {
std::mutex groups_lock;
std::set<Group *> groups;
std::atomic<uint64_t> all_calls{0};
} // namespace

Group::Group(std::shared_ptr<Comm> comm, int rank, int size, std::chrono::milliseconds timeout, std::string name)
    : Base(rank, size), comm_(std::move(comm)), channels_(Channels::of(*comm_->job)), timeout_(timeout),
      name_(std::move(name)) {
  std::lock_guard<std::mutex> held(groups_lock);
  groups.insert(this);
}

Group::~Group() {
  {
    std::lock_guard<std::mutex> held(groups_lock);
    groups.erase(this);
  }
  drain();
}

void drain_all() {
  std::lock_guard<std::mutex> held(groups_lock);
  for (Group *group : groups)
    group->drain();
}

uint64_t count_calls() { return all_calls.load(); }

void Group::count() {
  calls_++;
  all_calls++;
}

void Group::setSequenceNumberForGroup() {}

uint64_t Group::getSequenceNumberForGroup() { return calls_.load(); }

} // namespace tutti_torch
