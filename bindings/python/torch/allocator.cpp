// bindings/python/torch/allocator.cpp - torch's new CPU tensors in memory that the ranks of a machine read in place.
//
// A block begins with a line that says whose it is, so that its data is all that torch has to know. Short blocks, and
// all where shared memory is exhausted, are torch's own.
#include "allocator.hpp"

#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace tutti_torch {

namespace {

constexpr size_t LEAST_BYTES = 65536; // below, shared memory is not faster

// The job lives as long as its blocks.
struct Head {
  std::shared_ptr<Job> job;
  c10::DataPtr own; // torch's
};
constexpr size_t HEAD_BYTES = 64; // keeps the alignment
static_assert(sizeof(Head) <= HEAD_BYTES);

void release(void *data) {
  if (!data)
    return;
  auto *memory = static_cast<char *>(data) - HEAD_BYTES;
  auto *head = reinterpret_cast<Head *>(memory);
  auto job = std::move(head->job);
  auto own = std::move(head->own);
  head->~Head();
  if (!job)
    return; // `own` has it
  WithoutGil without;
  tutti_free(job->context, memory);
}

class Shared final : public c10::Allocator {
public:
  explicit Shared(std::weak_ptr<Job> job) : job_(std::move(job)) {}

#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(size_t bytes) override { return make(bytes); }
  void copy_data(void *to, const void *from, size_t bytes) const override { default_copy_data(to, from, bytes); }
#else
  c10::DataPtr allocate(size_t bytes) const override { return make(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return &release; }

private:
  const std::weak_ptr<Job> job_;

  c10::DataPtr make(size_t bytes) const {
    if (bytes > PTRDIFF_MAX - HEAD_BYTES)
      return c10::GetDefaultCPUAllocator()->allocate(bytes); // which is an error
    auto of = bytes >= LEAST_BYTES ? job_.lock() : nullptr;
    void *memory = nullptr;
    if (of) {
      WithoutGil without;
      if (tutti_alloc(of->context, bytes + HEAD_BYTES, &memory) != TUTTI_OK)
        of = nullptr;
    }
    c10::DataPtr own;
    if (!of) {
      own = c10::GetDefaultCPUAllocator()->allocate(bytes + HEAD_BYTES);
      memory = own.get();
    }
    new (memory) Head{std::move(of), std::move(own)};
    void *data = static_cast<char *>(memory) + HEAD_BYTES;
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
};

constexpr uint8_t PRIORITY = 100; // of who allocates; that of a program goes first

} // namespace

void share_tensors(bool on) {
  static Shared *latest; // each stays: other threads may be in it
  static std::weak_ptr<Job> of;
  auto job = current_job();
  TORCH_CHECK(job || !on, "tutti: share_tensors: there is no process group of tutti yet");
  if (on && (!latest || of.lock() != job)) {
    latest = new Shared(job);
    of = job;
  }
  if (on)
    c10::SetCPUAllocator(latest, PRIORITY);
  else if (latest && c10::GetCPUAllocator() == latest)
    c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), PRIORITY);
}

} // namespace tutti_torch
