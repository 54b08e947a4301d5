// bindings/python/torch/blocks.cpp - lists of tensors as blocks of one buffer, which begins with the first of them in
// memory. Nothing is copied, unless tensors are strided, lie between elements, or meet where one of them is written.
#include "draft.hpp"

#include <algorithm>

namespace tutti_torch {

namespace {

struct Stretch {
  const char *begin, *end;
  bool written;
};

void add(const at::Tensor &tensor, bool written, std::vector<Stretch> *to) {
  auto *begin = static_cast<const char *>(tensor.data_ptr());
  if (tensor.is_contiguous() && tensor.numel() > 0)
    to->push_back({begin, begin + tensor.nbytes(), written});
}

} // namespace

bool meet(const std::vector<at::Tensor> &outputs, const std::vector<at::Tensor> &inputs, int rank) {
  const at::Tensor *in_own = nullptr, *out_own = nullptr; // which may be the same
  if (inputs.size() == 1 || outputs.size() == 1) {
    in_own = &inputs[inputs.size() == 1 ? 0 : size_t(rank)];
    out_own = &outputs[outputs.size() == 1 ? 0 : size_t(rank)];
  }
  bool in_place = in_own && in_own->is_contiguous() && in_own->data_ptr() == out_own->data_ptr();
  std::vector<Stretch> all;
  for (const auto &output : outputs)
    add(output, true, &all);
  for (const auto &input : inputs)
    if (!in_place || &input != in_own)
      add(input, false, &all);
  std::sort(all.begin(), all.end(), [](const Stretch &a, const Stretch &b) { return a.begin < b.begin; });
  const char *end = nullptr, *end_written = nullptr; // of all so far
  for (const auto &at : all) {
    if (at.begin < (at.written ? end : end_written))
      return true;
    end = std::max(end, at.end);
    end_written = at.written ? std::max(end_written, at.end) : end_written;
  }
  return false;
}

namespace {

bool lies_between_elements(const at::Tensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data_ptr()) % tensor.element_size() != 0;
}

} // namespace

Blocks Group::Draft::in(const Tensors &list) {
  std::vector<const char *> places;
  for (const auto &tensor : list)
    places.push_back(static_cast<const char *>(in(tensor, lies_between_elements(tensor))));
  return blocks(places, list);
}

Blocks Group::Draft::out(const Tensors &list, const Tensors &inputs) {
  bool copy = meet(list, inputs, group->getRank());
  std::vector<const char *> places(list.size());
  for (size_t n = list.size(); n-- > 0;) // of copies back, the last one made is the first one done
    places[n] = static_cast<char *>(out(list[n], false, copy || lies_between_elements(list[n])));
  return blocks(places, list);
}

Blocks Group::Draft::blocks(const std::vector<const char *> &places, const Tensors &list) {
  size_t size = list.size(), before = work->words.size();
  auto element = int64_t(list[0].element_size()) / unit;
  const char *base = nullptr;
  for (size_t n = 0; n < size; n++)
    if (list[n].numel() > 0 && (!base || places[n] < base))
      base = places[n];
  work->words.reserve(4 * size); // of both sides: what the first one's pointers point to stays
  for (const auto &tensor : list)
    work->words.push_back(tensor.numel() * unit);
  for (size_t n = 0; n < size; n++)
    work->words.push_back(list[n].numel() > 0 ? (places[n] - base) / element : 0);
  const int64_t *words = work->words.data() + before;
  return {const_cast<char *>(base), words, words + size};
}

} // namespace tutti_torch
