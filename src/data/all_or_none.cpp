#include "data/all_or_none.hpp"

#include <array>
#include <string>

namespace lockstep {
namespace {

constexpr char separator = '\0';
constexpr char usage_mark = 'u';
constexpr char other_mark = 'o';

std::string packed(const Error& error) {
  const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr;
  return (usage ? usage_mark : other_mark) + error.attempted() + separator + error.reason() +
         separator + error.remedy();
}

[[noreturn]] void throw_packed(const std::string& text, const std::string& where) {
  const std::size_t reason = text.find(separator) + 1;
  const std::size_t remedy = text.find(separator, reason) + 1;
  const std::array parts{text.substr(1, reason - 2),
                         where + text.substr(reason, remedy - 1 - reason), text.substr(remedy)};
  if (text.front() == usage_mark) throw UsageError(parts[0], parts[1], parts[2]);
  throw Error(parts[0], parts[1], parts[2]);
}

}  // namespace

void settle_failure(Communicator& comm, const Error* failure) {
  const std::int64_t mine = failure == nullptr ? comm.size() : comm.rank();
  const auto lowest =
      static_cast<int>(all_reduce_value(comm, mine, ReduceOp::min, "whether data was read"));
  if (lowest == comm.size()) return;
  const std::string text = broadcast_text(comm, lowest == comm.rank() ? packed(*failure) : "",
                                          lowest, "why data was not read");
  throw_packed(text, lowest == 0 ? "" : "on rank " + std::to_string(lowest) + ": ");
}

}  // namespace lockstep
