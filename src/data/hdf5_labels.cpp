#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "lockstep/base/error.hpp"

#include "data/hdf5_parts.hpp"
#include "data/hdf5_search.hpp"
#include "data/label_layout.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t values_at_once = 1 << 20;  // of one-hot rows, which may be many and long

class LabelReader {
 public:
  LabelReader(const Hdf5File& file, const std::string& dataset)
      : file_(file), dataset_(dataset), type_(file.element_type(dataset)) {}

  LabelLayout layout(const std::string& images, std::int64_t samples) const {
    const std::vector<std::int64_t> extents = file_.shape(dataset_);
    const std::optional<LabelLayout> layout = label_layout_of(extents);
    if (!layout || layout->samples != samples) {
      refuse("the shape is " + text_of(extents) + ", expected [" + std::to_string(samples) +
             "] or [" + std::to_string(samples) + ", classes], for each image in " + images +
             " one label");
    }
    if (type_.kind != ElementType::Kind::integer && !(layout->one_hot && type_.is_number())) {
      refuse("labels are " + type_.name + ", expected integers",
             "store the number of each sample's class, counted from 0");
    }
    return *layout;
  }

  std::vector<std::int64_t> numbers(std::int64_t samples) const {
    std::vector<std::int64_t> labels(static_cast<std::size_t>(samples));
    file_.read(dataset_, DType::int64, std::as_writable_bytes(std::span(labels)));
    return labels;
  }

  /// The column of each row's only 1.
  std::vector<std::int64_t> hot_columns(const LabelLayout& layout) const {
    const std::int64_t rows_at_once = std::max<std::int64_t>(1, values_at_once / layout.columns);
    const auto columns = static_cast<std::size_t>(layout.columns);
    std::vector<std::int64_t> labels;
    std::vector<float> values;
    for (std::int64_t first = 0; first < layout.samples; first += rows_at_once) {
      const std::int64_t count = std::min(rows_at_once, layout.samples - first);
      values.resize(static_cast<std::size_t>(count) * columns);
      file_.read_rows(dataset_, DType::float32, first, count,
                      std::as_writable_bytes(std::span(values)));
      for (std::size_t at = 0; at < values.size(); at += columns) {
        labels.push_back(hot_column(std::span(values).subspan(at, columns), std::ssize(labels)));
      }
    }
    return labels;
  }

  [[noreturn]] void refuse(std::string reason, std::string remedy = {}) const {
    refuse_dataset(file_, dataset_, std::move(reason), std::move(remedy));
  }

 private:
  std::int64_t hot_column(std::span<const float> row, std::int64_t sample) const {
    const auto hot = std::find(row.begin(), row.end(), 1.0F);
    const auto zeros = std::count(row.begin(), row.end(), 0.0F);
    if (hot == row.end() || zeros != std::ssize(row) - 1) {
      refuse("the row of sample " + std::to_string(sample) + " is not one 1 among zeros",
             "store the number of each sample's class, or one-hot rows");
    }
    return hot - row.begin();
  }

  const Hdf5File& file_;
  const std::string& dataset_;
  const ElementType type_;
};

void require_in_range(const LabelReader& reader, const std::vector<std::int64_t>& labels,
                      std::int64_t num_classes) {
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](std::int64_t label) {
    return label < 0 || label >= num_classes;
  });
  if (wrong == labels.end()) return;
  reader.refuse("the label of sample " + std::to_string(wrong - labels.begin()) + " is " +
                    std::to_string(*wrong) + ", expected 0 to " + std::to_string(num_classes - 1),
                *wrong < 0 ? "labels count from 0"
                           : "set num_classes to the number of classes; labels count from 0");
}

/// Labels are mostly class numbers without gaps; what is larger is something else, such as 255 for
/// "unknown", and would give the network outputs that nothing belongs to.
std::int64_t classes_of(const LabelReader& reader, const std::vector<std::int64_t>& labels) {
  const std::int64_t largest = *std::max_element(labels.begin(), labels.end());
  if (largest >= std::ssize(labels)) {
    reader.refuse("the largest label is " + std::to_string(largest) + ", but there are only " +
                      std::to_string(labels.size()) + " samples",
                  "labels are to be class numbers from 0; set num_classes if they are");
  }
  return std::max<std::int64_t>(largest + 1, 1);
}

}  // namespace

Hdf5Labels read_hdf5_labels(const Hdf5File& file, const std::string& dataset,
                            const std::string& images, std::int64_t samples,
                            std::optional<std::int64_t> num_classes) {
  const LabelReader reader(file, dataset);
  const LabelLayout layout = reader.layout(images, samples);
  if (layout.one_hot) {
    if (num_classes.value_or(layout.columns) != layout.columns) {
      reader.refuse("its rows tell " + std::to_string(layout.columns) +
                        " classes apart, but num_classes = " + std::to_string(*num_classes),
                    "leave num_classes out, and it follows the data");
    }
    return {reader.hot_columns(layout), layout.columns};
  }
  std::vector<std::int64_t> labels = reader.numbers(samples);
  const std::int64_t classes = num_classes ? *num_classes : classes_of(reader, labels);
  require_in_range(reader, labels, classes);
  return {std::move(labels), classes};
}

}  // namespace lockstep
