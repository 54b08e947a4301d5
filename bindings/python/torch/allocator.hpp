// bindings/python/torch/allocator.hpp - where torch's new tensors lie.
#pragma once

#include "job.hpp"

namespace tutti_torch {

// on: from now on CPU tensors of 64 KiB and more are made in memory that the ranks of this machine read where it lies.
void share_tensors(bool on);

} // namespace tutti_torch
