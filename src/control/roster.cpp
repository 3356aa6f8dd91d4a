#include "control/roster.hpp"

#include "lockstep/comm/packed.hpp"

namespace lockstep {

std::vector<Member> exchange_members(Communicator& comm, const Member& mine) {
  Packer packer;
  packer.add(mine.node);
  packer.add(mine.host);
  packer.add(mine.board);
  packer.add(mine.key);
  std::vector<std::int64_t> endpoints;
  for (const auto& [address, port] : mine.endpoints) {
    endpoints.push_back(address);
    endpoints.push_back(port);
  }
  packer.add(endpoints);

  std::vector<Member> members;
  for (const std::string& text : all_gather_text(comm, packer.bytes(), "watchdogs of the ranks")) {
    Unpacker unpacker(text);
    Member& member = members.emplace_back();
    member.node = unpacker.integer();
    member.host = unpacker.text();
    member.board = unpacker.text();
    member.key = unpacker.integer();
    const std::vector<std::int64_t> numbers = unpacker.integers();
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
      member.endpoints.push_back({.address = static_cast<std::uint32_t>(numbers[i]),
                                  .port = static_cast<std::uint16_t>(numbers[i + 1])});
    }
  }
  return members;
}

}  // namespace lockstep
