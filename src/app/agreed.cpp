#include "lockstep/app/agreed.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "lockstep/comm/mpi_session.hpp"

namespace lockstep {

Outcome outcome_of(std::exception_ptr failure) {
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (const AgreedError& error) {
    return {error.exit_code(), error.what()};
  } catch (const UsageError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const std::exception& error) {
    return {ExitCode::failure, error.what()};
  } catch (...) {
    return {ExitCode::failure, "an exception of unknown type"};
  }
}

void agree_on(Communicator& comm, const Outcome& mine) {
  const auto code = static_cast<std::int64_t>(mine.exit_code);
  if (all_reduce_value(comm, code, ReduceOp::max, "agreement on an outcome") == 0) return;
  const std::vector<std::string> codes = all_gather_text(comm, std::to_string(code), "exit codes");
  const std::vector<std::string> texts = all_gather_text(comm, mine.text, "errors");
  const std::vector<std::string> hosts = all_gather_text(comm, MpiSession::host_name(), "hosts");
  const bool all_alike =
      std::all_of(texts.begin(), texts.end(), [&](const auto& text) { return text == texts[0]; });
  for (std::size_t rank = 0; rank < codes.size(); ++rank) {
    int found = 0;
    std::from_chars(codes[rank].data(), codes[rank].data() + codes[rank].size(), found);
    if (found == 0) continue;
    const std::string where =
        all_alike ? "" : "on rank " + std::to_string(rank) + " (" + hosts[rank] + "): ";
    throw AgreedError(static_cast<ExitCode>(found), where + texts[rank]);
  }
}

}  // namespace lockstep
