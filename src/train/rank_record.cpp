#include "lockstep/train/rank_record.hpp"

#include <array>
#include <span>

namespace lockstep {

std::vector<RankRecord> gathered(Communicator& comm, const RankRecord& mine) {
  constexpr std::size_t count = 5;
  std::array<double, count> sent{static_cast<double>(mine.train_samples), mine.train_seconds,
                                 mine.data_wait_seconds, mine.comm_wait_seconds,
                                 static_cast<double>(mine.peak_rss_bytes)};
  std::vector<double> all(count * static_cast<std::size_t>(comm.size()));
  comm.all_gather(buffer_of(std::span<double>(sent)), buffer_of(std::span<double>(all)),
                  "the ranks' measurements");
  std::vector<RankRecord> records;
  for (auto values = all.begin(); values != all.end(); values += count) {
    records.push_back({.train_samples = static_cast<std::int64_t>(values[0]),
                       .train_seconds = values[1],
                       .data_wait_seconds = values[2],
                       .comm_wait_seconds = values[3],
                       .peak_rss_bytes = static_cast<std::int64_t>(values[4])});
  }
  return records;
}

}  // namespace lockstep
