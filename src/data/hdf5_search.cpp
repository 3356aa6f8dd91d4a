#include "data/hdf5_search.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

#include "data/label_layout.hpp"

namespace lockstep {
namespace {

// The first name of each is Lockstep's own and is taken without a look at the others.
constexpr std::array<std::string_view, 8> image_names{"images", "image",  "x",   "data",
                                                      "inputs", "pixels", "img", "imgs"};
constexpr std::array<std::string_view, 6> label_names{"labels",  "label",  "y",
                                                      "targets", "target", "classes"};
constexpr std::size_t most_listed = 12;

using Paths = std::vector<std::string>;

/// Where the data sets of one part may lie: at <prefix><name><suffix>.
struct Place {
  std::string prefix;
  std::string suffix;

  std::string path(std::string_view name) const { return prefix + std::string(name) + suffix; }
  bool is_group() const { return suffix.empty() && prefix.back() == '/'; }
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::vector<Place> places_of(const SampleSearch& search) {
  std::vector<Place> places;
  for (const std::string& word : search.words) {
    places.push_back({"/" + word + "/", ""});
    places.push_back({"/", "_" + word});
    places.push_back({"/" + word + "_", ""});
  }
  if (search.plain) places.push_back({"/", ""});
  return places;
}

/// Images or labels, and how to tell them.
struct Wanted {
  std::string text;     ///< "images"
  std::string setting;  ///< that names them: "image_key"
  std::span<const std::string_view> names;
  std::function<bool(const std::string&)> fits;
};

class Search {
 public:
  Search(const Hdf5File& file, const SampleSearch& what)
      : file_(file), what_(what), datasets_(file.datasets()) {}

  std::optional<SampleKeys> run() const {
    const std::optional<Found> images = find_images();
    if (!images) return std::nullopt;
    const Place& place = images->place;
    std::string name = images->path;
    if (place.is_group())
      name = place.prefix == "/" ? "/" : place.prefix.substr(0, place.prefix.size() - 1);
    return SampleKeys{images->path, find_labels(*images), name};
  }

 private:
  struct Found {
    std::string path;
    Place place;
  };

  std::optional<Found> find_images() const {
    const std::string& key = what_.image_key;
    if (key.starts_with('/')) {
      if (!exists(key)) refuse_key(key, what_.image_setting);
      return Found{key, group_of(key)};
    }
    const Wanted wanted{.text = "images",
                        .setting = what_.image_setting,
                        .names = image_names,
                        .fits = [this](const std::string& path) { return could_be_images(path); }};
    const std::vector<Place> places = places_of(what_);
    for (const Place& place : places) {
      const std::string path = key == "auto" ? named(place, wanted) : keyed(place, key);
      if (!path.empty()) return Found{path, place.is_group() ? group_of(path) : place};
    }
    if (key != "auto") return std::nullopt;
    for (const Place& place : places) {
      const std::string path = only_one(place, wanted);
      if (!path.empty()) return Found{path, place};
    }
    return std::nullopt;
  }

  std::string find_labels(const Found& images) const {
    const std::string& key = what_.label_key;
    if (key != "auto") {
      for (const std::string& path : {key, images.place.path(key), "/" + key}) {
        if (exists(path)) return path;
      }
      refuse_key(images.place.path(key), what_.label_setting);
    }
    const Wanted wanted{.text = "labels of " + images.path,
                        .setting = what_.label_setting,
                        .names = label_names,
                        .fits = [&](const std::string& path) {
                          return path != images.path && could_be_labels(path, images.path);
                        }};
    std::string path = named(images.place, wanted);
    if (path.empty()) path = only_one(images.place, wanted);
    if (!path.empty()) return path;
    throw UsageError("find the " + wanted.text + " in " + file_.path().string(),
                     "no data set beside them can be; the file holds " + contents_text(file_),
                     "name it by --" + wanted.setting);
  }

  static Place group_of(const std::string& path) {
    return {path.substr(0, path.rfind('/') + 1), ""};
  }

  bool exists(const std::string& path) const {
    return std::find(datasets_.begin(), datasets_.end(), path) != datasets_.end();
  }

  std::string keyed(const Place& place, const std::string& key) const {
    const std::string path = place.path(key);
    return exists(path) ? path : "";
  }

  /// The data set at `place` that has one of the names, whatever their case; empty: there is none.
  std::string named(const Place& place, const Wanted& wanted) const {
    Paths found;
    for (const std::string_view name : wanted.names) {
      for (const std::string& path : datasets_) {
        if (lower(path) == lower(place.path(name))) found.push_back(path);
      }
      if (name == wanted.names.front() && found.size() == 1) return found.front();
    }
    Paths fitting;
    std::copy_if(found.begin(), found.end(), std::back_inserter(fitting), wanted.fits);
    // A data set with the right name and the wrong shape is what the error should be about.
    return one_of(fitting.empty() ? found : fitting, wanted);
  }

  /// The only data set in the place's group that fits; empty: there is none.
  std::string only_one(const Place& place, const Wanted& wanted) const {
    if (!place.is_group()) return "";
    Paths found;
    for (const std::string& path : datasets_) {
      if (group_of(path).prefix == place.prefix && wanted.fits(path)) found.push_back(path);
    }
    return one_of(found, wanted);
  }

  std::string one_of(const Paths& found, const Wanted& wanted) const {
    if (found.empty()) return "";
    if (found.size() == 1) return found.front();
    throw UsageError("find the " + wanted.text + " in " + file_.path().string(),
                     "several data sets could be: " + joined(found, ", "),
                     "name it by --" + wanted.setting);
  }

  bool could_be_images(const std::string& path) const {
    const std::vector<std::int64_t> extents = file_.shape(path);
    if (extents.size() != 3 && extents.size() != 4) return false;
    // N,1,1,1 is how some files hold labels.
    const bool has_pixels = std::any_of(extents.begin() + 1, extents.end(),
                                        [](std::int64_t extent) { return extent != 1; });
    return has_pixels && file_.element_type(path).is_number();
  }

  bool could_be_labels(const std::string& path, const std::string& images) const {
    const std::vector<std::int64_t> extents = file_.shape(path);
    const std::vector<std::int64_t> image_extents = file_.shape(images);
    if (extents.empty() || image_extents.empty() || extents[0] != image_extents[0]) return false;
    const std::optional<LabelLayout> layout = label_layout_of(extents);
    if (!layout) return false;
    const ElementType type = file_.element_type(path);
    return type.kind == ElementType::Kind::integer || (layout->one_hot && type.is_number());
  }

  [[noreturn]] void refuse_key(const std::string& path, const std::string& setting) const {
    throw UsageError("read " + path + " in " + file_.path().string(),
                     unknown_name_text("data set", path, datasets_),
                     "name it by --" + setting + ", or leave that out");
  }

  const Hdf5File& file_;
  const SampleSearch& what_;
  const Paths datasets_;
};

}  // namespace

std::optional<SampleKeys> find_samples(const Hdf5File& file, const SampleSearch& search) {
  return Search(file, search).run();
}

std::string contents_text(const Hdf5File& file) {
  std::vector<std::string> parts;
  for (const std::string& path : file.datasets()) {
    if (parts.size() == most_listed) {
      parts.emplace_back("...");
      break;
    }
    parts.push_back(path + " (" + file.element_type(path).name + " " + text_of(file.shape(path)) +
                    ")");
  }
  return parts.empty() ? "no data sets" : joined(parts, ", ");
}

std::string text_of(const std::vector<std::int64_t>& extents) {
  std::vector<std::string> parts;
  for (const std::int64_t extent : extents) parts.push_back(std::to_string(extent));
  return "[" + joined(parts, ", ") + "]";
}

}  // namespace lockstep
