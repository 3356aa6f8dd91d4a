#include "lockstep/base/log.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"

#include "support/temporary_directory.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

struct Spoken {
  std::string out;
  std::string err;
};

Spoken spoken_by(const std::function<void()>& act) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  act();
  std::fflush(stdout);
  return {testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(Log, RankZeroSpeaksOnStandardOutput) {
  const Spoken spoken = spoken_by([] {
    Log log(0);
    log.info("epoch 1 {}");
    log.warn("few samples");
  });
  EXPECT_EQ(spoken.out, "epoch 1 {}\nwarning: few samples\n");
  EXPECT_EQ(spoken.err, "");
}

TEST(Log, OtherRanksSpeakOnlyOfTroubleAndWithTheirRank) {
  const Spoken spoken = spoken_by([] {
    Log log(3);
    log.info("epoch 1");
    log.progress("50 %");
    log.warn("few samples");
    log.error("no samples");
  });
  EXPECT_EQ(spoken.out, "");
  EXPECT_EQ(spoken.err, "[rank 3] warning: few samples\nlockstep: [rank 3] no samples\n");
}

TEST(Log, ErrorsGoToStandardErrorOnEveryRank) {
  const Spoken spoken = spoken_by([] { Log(0).error("no samples"); });
  EXPECT_EQ(spoken.out, "");
  EXPECT_EQ(spoken.err, "lockstep: [rank 0] no samples\n");
}

TEST(Log, FilesHoldTimedTextForPeopleAndObjectsForMachines) {
  const TemporaryDirectory directory;
  spoken_by([&] {
    Log log(0);
    log.open_files(directory.path());
    log.info("epoch 1");
    log.event("epoch", {{"epoch", std::int64_t{1}},
                        {"loss", 0.1},
                        {"best", true},
                        {"note", std::string("a \"quote\"\n")}});
  });
  EXPECT_THAT(content_of(directory.path() / "log.txt"),
              MatchesRegex("[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+  epoch 1\n"));
  const std::string lines = content_of(directory.path() / "log.jsonl");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 1);
  const auto record = nlohmann::json::parse(lines);
  EXPECT_EQ(record["event"], "epoch");
  EXPECT_GT(record["time"], 1.7e9);  // seconds since 1970: after 2023
  EXPECT_EQ(record["epoch"], 1);
  EXPECT_EQ(record["loss"], 0.1);
  EXPECT_EQ(record["best"], true);
  EXPECT_EQ(record["note"], "a \"quote\"\n");
}

TEST(Log, EventsKeepNumbersThatJsonDoesNotKnow) {
  const TemporaryDirectory directory;
  spoken_by([&] {
    Log log(0);
    log.open_files(directory.path());
    log.event("step", {{"loss", std::nan("")}, {"scale", INFINITY}, {"bad", std::string("\xff")}});
  });
  const auto record = nlohmann::json::parse(content_of(directory.path() / "log.jsonl"));
  EXPECT_EQ(record["loss"], "nan");
  EXPECT_EQ(record["scale"], "inf");
  EXPECT_TRUE(record.contains("bad"));
}

TEST(Log, FilesAreAppendedToWhenARunGoesOn) {
  const TemporaryDirectory directory;
  for (const char* text : {"first run", "second run"}) {
    spoken_by([&] {
      Log log(0);
      log.open_files(directory.path());
      log.info(text);
    });
  }
  EXPECT_THAT(content_of(directory.path() / "log.txt"), HasSubstr("first run"));
  EXPECT_THAT(content_of(directory.path() / "log.txt"), HasSubstr("second run"));
}

TEST(Log, OnlyRankZeroWritesFiles) {
  const TemporaryDirectory directory;
  spoken_by([&] {
    Log log(1);
    log.open_files(directory.path());
    log.event("epoch", {});
    log.warn("few samples");
  });
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Log, AFileThatCannotBeOpenedIsAnErrorThatNamesTheDirectory) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "file") << "";
  const std::filesystem::path below_a_file = directory.path() / "file" / "run";
  Log log(0);
  try {
    log.open_files(below_a_file);
    FAIL() << "there can be no such directory";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(below_a_file.string()));
  }
}

TEST(Log, ProgressStaysOutOfWhatIsNoTerminal) {
  const Spoken spoken = spoken_by([] { Log(0).progress("50 %"); });
  EXPECT_EQ(spoken.out, "");
}

/// What `act` sends to standard output where that is a terminal.
std::string shown_on_a_terminal(const std::function<void()>& act) {
  int master = -1;
  int terminal = -1;
  if (openpty(&master, &terminal, nullptr, nullptr, nullptr) != 0) {
    throw Error("open a pseudo-terminal", errno_text(errno));
  }
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  dup2(terminal, STDOUT_FILENO);
  act();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  close(terminal);
  // Once nobody holds the terminal, reading gives what is left and then an error, never a wait; one
  // read alone may come before the kernel has passed all of it on.
  std::string shown;
  std::array<char, 4096> text{};
  for (ssize_t length = 0; (length = read(master, text.data(), text.size())) > 0;) {
    shown.append(text.data(), static_cast<std::size_t>(length));
  }
  close(master);
  return shown;
}

TEST(Log, ProgressOnATerminalIsErasedBeforeTheNextLine) {
  const std::string erase = "\r\033[K";
  EXPECT_EQ(shown_on_a_terminal([] {
              Log log(0);
              log.progress("50 %");
              log.progress("60 %");
              log.info("epoch 1");
              log.info("epoch 2");
            }),
            erase + "50 %" + erase + "60 %" + erase + "epoch 1\r\nepoch 2\r\n");
}

}  // namespace
}  // namespace lockstep
