#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lockstep/comm/packed.hpp"
#include "lockstep/io/array_file.hpp"

namespace lockstep {

using Settings = std::vector<std::pair<std::string, std::string>>;

// How attributes and settings travel between ranks.
void pack(Packer& packer, const std::vector<Attribute>& attributes);
void pack(Packer& packer, const Settings& settings);
std::vector<Attribute> unpack_attributes(Unpacker& unpacker);
Settings unpack_settings(Unpacker& unpacker);

}  // namespace lockstep
