// bindings/python/torch/group.cpp - see group.hpp.
#include "group.hpp"

#include <set>

namespace tutti_torch {

namespace {
std::mutex groups_lock;
std::set<Group *> groups;
} // namespace

Group::Group(std::shared_ptr<Comm> comm, int rank, int size, std::chrono::milliseconds timeout)
    : Base(rank, size), comm_(std::move(comm)), channels_(Channels::of(*comm_->job)), timeout_(timeout) {
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

void Group::setSequenceNumberForGroup() {}

uint64_t Group::getSequenceNumberForGroup() { return calls_.load(); }

} // namespace tutti_torch
