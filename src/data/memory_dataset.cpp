#include "data/memory_dataset.hpp"

#include <algorithm>

#include "lockstep/base/error.hpp"

namespace lockstep {

std::int64_t MemoryDataset::label(std::int64_t id) const {
  if (id < 0 || id >= size()) {
    throw Error("read " + name_,
                "there is no sample " + std::to_string(id) + " among " + std::to_string(size()));
  }
  return labels_[static_cast<std::size_t>(id)];
}

std::int64_t MemoryDataset::read(std::int64_t id, std::span<float> image) const {
  const std::int64_t sample_label = label(id);
  check(std::cmp_equal(image.size(), shape_.size()), "read an image",
        "the memory for it has another size");
  const std::size_t first = static_cast<std::size_t>(id) * image.size();
  if (const auto* floats = std::get_if<std::vector<float>>(&pixels_)) {
    std::copy_n(floats->data() + first, image.size(), image.data());
  } else {
    const std::uint8_t* const bytes = std::get<std::vector<std::uint8_t>>(pixels_).data() + first;
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<float>(bytes[i] * scale_);
    }
  }
  return sample_label;
}

}  // namespace lockstep
