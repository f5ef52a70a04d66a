#include "tests/ranks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

#include "jit/comm/shared_file.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"

namespace tests {
namespace {

constexpr unsigned kSeconds = 120;

using Socket = int;
/// Ends of the connections of one rank: [other ranks], -1 at its own place.
struct Connections {
  std::vector<Socket> collective, messages;
};

class SocketRanks;

/// A message over a socket: its length, then its bytes.
class SocketMessage : public jit::Message {
 public:
  SocketMessage(SocketRanks& ranks, int partner, void* data, std::size_t bytes, bool outgoing,
                jit::Length length = jit::Length::exact)
      : ranks_(ranks),
        partner_(partner),
        data_(static_cast<char*>(data)),
        bytes_(bytes),
        outgoing_(outgoing),
        may_be_shorter_(length == jit::Length::at_most) {}
  void start() override;
  bool done() override;
  void wait() override;
  std::size_t length() const override { return length_; }

  /// Sends or receives what is possible now; true if the message is through.
  bool advance(Socket socket);
  int partner() const { return partner_; }

 private:
  SocketRanks& ranks_;
  int partner_;
  char* data_;
  std::size_t bytes_;
  bool outgoing_, may_be_shorter_, under_way_ = false;
  std::uint64_t length_ = 0;  ///< as the sender tells
  std::size_t moved_ = 0;     ///< bytes of the length and the data
};

class SocketRanks : public jit::Communicator, public jit::SharedFiles {
 public:
  SocketRanks(int rank, Connections connections, std::string host)
      : rank_(rank),
        connections_(std::move(connections)),
        host_(std::move(host)),
        out_(connections_.messages.size()),
        in_(connections_.messages.size()) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(connections_.messages.size()); }
  std::string host() const override { return host_.empty() ? Communicator::host() : host_; }

  void broadcast(void* data, std::size_t bytes, int root) override {
    check_root("broadcast", root);
    for (int other = 0; other < size(); ++other) {
      if (rank_ == root && other != root) tell(other, 'b', data, bytes);
      if (rank_ != root && other == root) hear(other, 'b', data, bytes);
    }
  }

  /// Every rank joins in an order of its own: what is not associative and commutative differs between ranks.
  void combine(void* values, std::size_t bytes, std::size_t count, jit::Join join) override {
    const std::size_t all = bytes * count;
    std::vector<char> of_ranks(all * connections_.messages.size());
    gather_as('c', values, all, of_ranks.data());
    for (int step = 1; step < size(); ++step) {
      char* from = of_ranks.data() + static_cast<std::size_t>((rank_ + step) % size()) * all;
      if (step % 2 == 0) {
        join(from, values, count);
        std::copy_n(from, all, static_cast<char*>(values));
      } else {
        join(values, from, count);
      }
    }
  }

  void gather(const void* mine, std::size_t bytes, void* all) override { gather_as('g', mine, bytes, all); }
  void barrier() override { gather_as('w', nullptr, 0, nullptr); }

  std::unique_ptr<jit::Message> outgoing(const void* data, std::size_t bytes, int to) override {
    check_partner("message to", to);
    return std::make_unique<SocketMessage>(*this, to, const_cast<void*>(data), bytes, true);  // only read
  }
  std::unique_ptr<jit::Message> incoming(void* data, std::size_t bytes, int from, jit::Length length) override {
    check_partner("message from", from);
    return std::make_unique<SocketMessage>(*this, from, data, bytes, false, length);
  }

  std::unique_ptr<jit::SharedFile> open_file(const std::string& path, bool writing, std::string& why_not) override;

  /// The test's process ends the others.
  void abort(int status) override { _exit(status); }

  void enqueue(SocketMessage* message, bool outgoing) {
    (outgoing ? out_ : in_)[static_cast<std::size_t>(message->partner())].push_back(message);
  }

  /// Moves what can be moved now; if `patient`, waits until something can.
  void progress(bool patient) {
    std::vector<pollfd> waiting;
    for (std::size_t other = 0; other < out_.size(); ++other) {
      const Socket socket = connections_.messages[other];
      while (!out_[other].empty() && out_[other].front()->advance(socket)) out_[other].pop_front();
      while (!in_[other].empty() && in_[other].front()->advance(socket)) in_[other].pop_front();
      const int events = (out_[other].empty() ? 0 : POLLOUT) | (in_[other].empty() ? 0 : POLLIN);
      if (events != 0) waiting.push_back({.fd = socket, .events = static_cast<short>(events), .revents = 0});
    }
    if (patient && !waiting.empty()) poll(waiting.data(), waiting.size(), 1000);
  }

 private:
  struct Header {
    std::uint64_t operation, bytes;
  };

  /// Through rank 0.
  void gather_as(char operation, const void* mine, std::size_t bytes, void* all) {
    auto* of_ranks = static_cast<char*>(all);
    if (rank_ != 0) {
      tell(0, operation, mine, bytes);
      hear(0, operation, all, bytes * connections_.messages.size());
      return;
    }
    if (bytes > 0) std::memcpy(of_ranks, mine, bytes);
    for (int r = 1; r < size(); ++r) hear(r, operation, of_ranks + static_cast<std::size_t>(r) * bytes, bytes);
    for (int r = 1; r < size(); ++r) tell(r, operation, all, bytes * connections_.messages.size());
  }

  void tell(int other, char operation, const void* data, std::size_t bytes) {
    const Header header{static_cast<std::uint64_t>(operation), bytes};
    write_all(other, &header, sizeof header);
    write_all(other, data, bytes);
  }

  void hear(int other, char operation, void* data, std::size_t bytes) {
    Header header{};
    read_all(other, &header, sizeof header);
    if (header.operation != static_cast<std::uint64_t>(operation) || header.bytes != bytes)
      throw jit::InternalError({.what = "collective operation",
                                .expected = std::string("'") + operation + "' with " + std::to_string(bytes) + " bytes",
                                .got = std::string("'") + static_cast<char>(header.operation) + "' with " +
                                       std::to_string(header.bytes) + " of rank " + std::to_string(other),
                                .where = "rank " + std::to_string(rank_)});
    read_all(other, data, bytes);
  }

  void write_all(int other, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    for (std::size_t sent = 0; sent < bytes;) {
      const ssize_t n =
          ::send(connections_.collective[static_cast<std::size_t>(other)], at + sent, bytes - sent, MSG_NOSIGNAL);
      if (n <= 0) fail(other, n);
      sent += static_cast<std::size_t>(n);
    }
  }

  void read_all(int other, void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    for (std::size_t received = 0; received < bytes;) {
      const ssize_t n =
          ::recv(connections_.collective[static_cast<std::size_t>(other)], at + received, bytes - received, 0);
      if (n <= 0) fail(other, n);
      received += static_cast<std::size_t>(n);
    }
  }

  /// After a system call that returned n <= 0.
  [[noreturn]] static void fail(int other, ssize_t n) {
    throw jit::DeviceError("rank " + std::to_string(other) +
                           (n == 0 ? " is gone" : std::string(": ") + std::strerror(errno)));
  }

  int rank_;
  Connections connections_;
  std::string host_;
  std::vector<std::deque<SocketMessage*>> out_, in_;  ///< [ranks] under way, in the order of their starts

  friend class SocketMessage;
  friend class SocketFile;
};

/// Each rank uses the file by itself; they meet in each operation, so that a rank which left one out is found.
class SocketFile : public jit::SharedFile {
 public:
  SocketFile(SocketRanks& ranks, const std::string& path, bool writing)
      : ranks_(ranks), path_(path), file_(::open(path.c_str(), (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC)) {}

  void write(std::span<const jit::FileBlock> blocks, const void* data) override {
    ranks_.gather_as('W', nullptr, 0, nullptr);
    const auto* at = static_cast<const char*>(data);
    for (auto [offset, bytes] : blocks)
      for (; bytes > 0;)
        step(::pwrite(file_.number(), at, bytes, static_cast<off_t>(offset)), "write", at, offset, bytes);
  }
  void read(std::span<const jit::FileBlock> blocks, void* data) override {
    ranks_.gather_as('R', nullptr, 0, nullptr);
    auto* at = static_cast<char*>(data);
    for (auto [offset, bytes] : blocks)
      for (; bytes > 0;) {
        const ssize_t n = ::pread(file_.number(), at, bytes, static_cast<off_t>(offset));
        if (n == 0) break;  // past the end
        step(n, "read", at, offset, bytes);
      }
  }
  void close() override {
    ranks_.gather_as('C', nullptr, 0, nullptr);
    file_ = jit::Descriptor();
  }

 private:
  template <class Byte>
  void step(ssize_t done, const char* operation, Byte*& at, std::uint64_t& offset, std::uint64_t& bytes) const {
    if (done < 0) jit::throw_file_error(operation, path_, errno);
    at += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }

  SocketRanks& ranks_;
  std::string path_;
  jit::Descriptor file_;
};

std::unique_ptr<jit::SharedFile> SocketRanks::open_file(const std::string& path, bool writing, std::string&) {
  return std::make_unique<SocketFile>(*this, path, writing);
}

void SocketMessage::start() {
  if (under_way_) throw jit::InternalError("start of a message that is under way");
  under_way_ = true;
  moved_ = 0;
  length_ = bytes_;
  ranks_.enqueue(this, outgoing_);
  ranks_.progress(false);
}

bool SocketMessage::done() {
  if (under_way_) ranks_.progress(false);
  return !under_way_;
}

void SocketMessage::wait() {
  while (!done()) ranks_.progress(true);
}

bool SocketMessage::advance(Socket socket) {
  for (;;) {
    const bool head = moved_ < sizeof length_;
    char* at = head ? reinterpret_cast<char*>(&length_) + moved_ : data_ + (moved_ - sizeof length_);
    const std::size_t left = sizeof length_ + (head ? 0 : length_) - moved_;
    if (!head && left == 0) {
      under_way_ = false;
      return true;
    }
    const ssize_t n =
        outgoing_ ? ::send(socket, at, left, MSG_NOSIGNAL | MSG_DONTWAIT) : ::recv(socket, at, left, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
    if (n <= 0) SocketRanks::fail(partner_, n);
    moved_ += static_cast<std::size_t>(n);
    if (moved_ == sizeof length_ && length_ != bytes_ && (length_ > bytes_ || !may_be_shorter_))
      throw jit::InternalError({.what = "message of rank " + std::to_string(partner_),
                                .expected = std::to_string(bytes_) + " bytes",
                                .got = std::to_string(length_)});
  }
}

std::array<Socket, 2> connection() {
  std::array<Socket, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error("socketpair failed");
  return ends;
}

void close_all(const Connections& rank) {
  for (const auto& sockets : {rank.collective, rank.messages})
    for (const Socket socket : sockets)
      if (socket >= 0) close(socket);
}

/// What a rank leaves behind: 'r' and the result, or 'e' and the text of an error.
struct File {
  std::FILE* file = std::tmpfile();
  ~File() {
    if (file != nullptr) std::fclose(file);
  }
  File() = default;
  File(File&& other) noexcept : file(std::exchange(other.file, nullptr)) {}
  void write(char kind, const std::string& text) const {
    std::fputc(kind, file);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
  }
  std::string read() const {
    std::string text;
    std::rewind(file);
    char piece[4096];
    while (const std::size_t n = std::fread(piece, 1, sizeof piece, file)) text.append(piece, n);
    return text;
  }
};

/// The life of a rank's process.
[[noreturn]] void live(const std::function<std::string(jit::Communicator&)>& body, std::unique_ptr<SocketRanks> ranks,
                       const File& result) {
  alarm(kSeconds);
  jit::replace_process_communicator(std::move(ranks));
  int status = 1;
  try {
    const std::string told = body(jit::process_communicator());
    jit::run_deferred();  // as a program's end does
    result.write('r', told);
    status = 0;
  } catch (const std::exception& error) {
    result.write('e', error.what());
  } catch (...) {
    result.write('e', "something that is no std::exception");
  }
  std::fflush(nullptr);
  _exit(status);
}

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "was not done after " + std::to_string(kSeconds) + " s"
                                       : "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> texts_on_ranks(int ranks, const std::function<std::string(jit::Communicator&)>& body,
                                        const std::vector<std::string>& hosts) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<Connections> connections(n, {std::vector<Socket>(n, -1), std::vector<Socket>(n, -1)});
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b)
      for (const auto kind : {&Connections::collective, &Connections::messages}) {
        const auto ends = connection();
        (connections[a].*kind)[b] = ends[0];
        (connections[b].*kind)[a] = ends[1];
      }
  std::vector<File> results(n);
  std::fflush(nullptr);  // or every process writes what is buffered
  std::vector<pid_t> processes;
  for (std::size_t r = 0; r < n; ++r) {
    const pid_t process = fork();
    if (process < 0) throw std::runtime_error("fork failed");
    if (process == 0) {
      for (std::size_t other = 0; other < n; ++other)
        if (other != r) close_all(connections[other]);  // so that a rank sees the end of others
      live(body, std::make_unique<SocketRanks>(static_cast<int>(r), connections[r], hosts.empty() ? "" : hosts[r]),
           results[r]);
    }
    processes.push_back(process);
  }
  for (const Connections& c : connections) close_all(c);

  std::string failures;
  for (std::size_t ended = 0; ended < n;) {
    int status = 0;
    const pid_t process = wait(&status);
    const auto at = std::ranges::find(processes, process);
    if (at == processes.end()) continue;
    ++ended;
    *at = 0;
    if (status == 0) continue;
    const auto r = static_cast<std::size_t>(at - processes.begin());
    const std::string text = results[r].read();
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
      failures +=
          "rank " + std::to_string(r) + " " + ending(status) + (text.empty() ? "" : ": " + text.substr(1)) + "\n";
    for (const pid_t other : processes)
      if (other != 0) kill(other, SIGKILL);
  }
  if (!failures.empty()) throw std::runtime_error(failures);
  std::vector<std::string> texts;
  for (const File& result : results) texts.push_back(result.read().substr(1));
  return texts;
}

}  // namespace tests
