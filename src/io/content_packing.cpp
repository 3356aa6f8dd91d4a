#include "io/content_packing.hpp"

namespace lockstep {

void pack(Packer& packer, const std::vector<Attribute>& attributes) {
  packer.add(static_cast<std::int64_t>(attributes.size()));
  for (const Attribute& attribute : attributes) {
    packer.add(attribute.name);
    packer.add(static_cast<std::int64_t>(attribute.value.index()));
    std::visit([&](const auto& value) { packer.add(value); }, attribute.value);
  }
}

void pack(Packer& packer, const Settings& settings) {
  packer.add(static_cast<std::int64_t>(settings.size()));
  for (const auto& [name, value] : settings) {
    packer.add(name);
    packer.add(value);
  }
}

std::vector<Attribute> unpack_attributes(Unpacker& unpacker) {
  std::vector<Attribute> attributes(static_cast<std::size_t>(unpacker.integer()));
  for (Attribute& attribute : attributes) {
    attribute.name = unpacker.text();
    switch (unpacker.integer()) {
      case 0:
        attribute.value = unpacker.integer();
        break;
      case 1:
        attribute.value = unpacker.real();
        break;
      default:
        attribute.value = unpacker.text();
    }
  }
  return attributes;
}

Settings unpack_settings(Unpacker& unpacker) {
  Settings settings(static_cast<std::size_t>(unpacker.integer()));
  for (auto& [name, value] : settings) {
    name = unpacker.text();
    value = unpacker.text();
  }
  return settings;
}

}  // namespace lockstep
