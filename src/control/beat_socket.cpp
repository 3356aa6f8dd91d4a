#include "control/beat_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_ranks = 18;

struct Entry {
  std::int64_t rank, phase, doing, step, moves, io_moves, signal, pulse;
};

struct Datagram {
  std::int64_t key = 0;
  std::int64_t culprit = -1;
  std::int64_t count = 0;
  std::array<Entry, most_ranks> entries{};

  std::size_t bytes() const {
    return sizeof *this - (most_ranks - static_cast<std::size_t>(count)) * sizeof(Entry);
  }
};
static_assert(sizeof(Datagram) < 1200);

sockaddr_in socket_address(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = endpoint.address;
  address.sin_port = endpoint.port;
  return address;
}

Datagram datagram_of(std::int64_t key, std::int64_t culprit, std::span<const BeatNews> ranks) {
  Datagram datagram{.key = key, .culprit = culprit};
  for (const auto& [rank, beat] : ranks) {
    datagram.entries[static_cast<std::size_t>(datagram.count++)] = {
        .rank = rank,
        .phase = static_cast<std::int64_t>(beat.phase),
        .doing = static_cast<std::int64_t>(beat.doing),
        .step = beat.step,
        .moves = beat.moves,
        .io_moves = beat.io_moves,
        .signal = beat.signal,
        .pulse = beat.pulse};
  }
  return datagram;
}

std::optional<BeatMessage> message_of(const Datagram& datagram, std::size_t bytes,
                                      std::int64_t key) {
  constexpr std::size_t head = sizeof(Datagram) - most_ranks * sizeof(Entry);
  if (bytes < head || datagram.key != key) return std::nullopt;
  if (datagram.count < 0 || datagram.count > static_cast<std::int64_t>(most_ranks) ||
      bytes != datagram.bytes()) {
    return std::nullopt;
  }
  BeatMessage message{.culprit = datagram.culprit, .ranks = {}};
  for (const Entry& entry :
       std::span(datagram.entries).first(static_cast<std::size_t>(datagram.count))) {
    message.ranks.push_back({.rank = entry.rank,
                             .beat = {.phase = static_cast<Phase>(entry.phase),
                                      .doing = static_cast<Doing>(entry.doing),
                                      .step = entry.step,
                                      .moves = entry.moves,
                                      .io_moves = entry.io_moves,
                                      .signal = entry.signal,
                                      .pulse = entry.pulse}});
  }
  return message;
}

}  // namespace

BeatSocket::BeatSocket()
    : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  constexpr const char* attempted = "open a socket for the beats of other nodes";
  if (!socket_) throw Error(attempted, errno_text(errno));
  const sockaddr_in any = socket_address({.address = htonl(INADDR_ANY), .port = 0});
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    throw Error(attempted, errno_text(errno));
  }
}

std::vector<Endpoint> BeatSocket::endpoints() const {
  sockaddr_in own{};
  socklen_t length = sizeof own;
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own), &length);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> interfaces(first, ::freeifaddrs);
  std::vector<Endpoint> outward;
  std::vector<Endpoint> loopback;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0) continue;
    const auto& address = *reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    auto& list = (one->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : outward;
    list.push_back({.address = address.sin_addr.s_addr, .port = own.sin_port});
  }
  return outward.empty() ? loopback : outward;
}

void BeatSocket::send(std::int64_t key, const BeatMessage& message, std::span<const Endpoint> to) {
  std::span<const BeatNews> rest(message.ranks);
  do {
    const std::size_t count = std::min(rest.size(), most_ranks);
    const Datagram datagram = datagram_of(key, message.culprit, rest.first(count));
    rest = rest.subspan(count);
    for (const Endpoint& endpoint : to) {
      const sockaddr_in address = socket_address(endpoint);
      static_cast<void>(::sendto(socket_.get(), &datagram, datagram.bytes(), MSG_DONTWAIT,
                                 reinterpret_cast<const sockaddr*>(&address), sizeof address));
    }
  } while (!rest.empty());
}

std::vector<BeatMessage> BeatSocket::receive(std::int64_t key) {
  std::vector<BeatMessage> messages;
  while (true) {
    Datagram datagram;
    const ssize_t bytes = ::recv(socket_.get(), &datagram, sizeof datagram, MSG_DONTWAIT);
    if (bytes < 0) return messages;
    if (auto message = message_of(datagram, static_cast<std::size_t>(bytes), key)) {
      messages.push_back(std::move(*message));
    }
  }
}

}  // namespace lockstep
