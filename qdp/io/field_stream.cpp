#include "qdp/io/field_stream.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <span>

#include "jit/comm/collectives.hpp"
#include "jit/comm/communicator.hpp"
#include "jit/comm/shared_file.hpp"
#include "jit/memory/field.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/lock.hpp"
#include "jit/support/log.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/util/primary.hpp"

namespace QDP::io {

SiteGeometry lattice_geometry() {
  const multi1d<int>& n = Layout::lattSize();
  return {std::vector<int>(n.slice(), n.slice() + n.size())};
}

Word file_word(jit::ir::Type word) {
  switch (word) {
    case jit::ir::Type::f32:
      return Word::float32;
    case jit::ir::Type::f64:
      return Word::float64;
    case jit::ir::Type::i32:
      return Word::int32;
    case jit::ir::Type::b1:
      return Word::bytes;
    case jit::ir::Type::i64:
      break;
  }
  throw jit::UserError({.what = "writing a field to a file",
                        .expected = "float, double, 32-bit integer or boolean words",
                        .got = "64-bit integers"});
}

namespace {

/// What each rank holds of a file at a time where all move together: it stays in cache from one step to the next.
constexpr std::size_t kBytesTogether = std::size_t{1} << 20;

/// One of these from the primary to all before each chunk, whose runs of sites follow, or before all sites at once; then the
/// file's name follows.
struct Command {
  enum class What { end, chunk, all } what = What::end;
  std::uint64_t offset = 0;  ///< in the file, of all
  FileSite site = {};
};

/// Notes what `step` throws, unless something was noted before.
template <class Step>
void note_failure(std::string& failure, Step&& step) {
  if (std::string text = failure_of(step); failure.empty()) failure = std::move(text);
}

/// The fields, if their lattice is that of the file.
std::vector<jit::Field*> checked(const char* what, std::vector<jit::Field*> fields, const SiteGeometry& of_file) {
  for (const jit::Field* f : fields) {
    const detail::Coord& extents = detail::lattice_of(*f).whole().extents();
    if (const SiteGeometry own{{extents.begin(), extents.end()}}; own != of_file)
      throw jit::UserError({.what = what,
                            .expected = "a field on a lattice of " + of_file.text() + " sites, as the file",
                            .got = "one on " + own.text(),
                            .what_now =
                                "files are of the lattice that is present when they are opened: make that of the "
                                "field present with Layout::Scope"});
  }
  return fields;
}

/// Room for a message, all zero. Without it no message can tell the rank that waits for it: the job ends.
std::vector<char> parcel_of(std::size_t bytes) {
  try {
    return std::vector<char>(bytes);
  } catch (const std::bad_alloc&) {
    jit::log_error("io", "no memory for ", bytes, " bytes of a field on their way to or from a file");
    jit::process_communicator().abort(1);
    throw;
  }
}

std::size_t bytes_of_site(const jit::Field& f) {
  return static_cast<std::size_t>(f.components() * jit::ir::bytes(f.word()));
}

}  // namespace

struct FieldStream::Run {
  int rank;
  detail::Coord first;
  std::size_t sites;
  std::size_t at;  ///< bytes in the chunk
};

FieldStream::FieldStream(Direction direction, std::vector<jit::Field*> fields, const SiteGeometry& of_file)
    : direction_(direction),
      fields_(
          checked(direction == Direction::to_file ? "writing a field" : "reading a field", std::move(fields), of_file)),
      site_bytes_(fields_.size() * bytes_of_site(*fields_.at(0))) {}

FieldStream::~FieldStream() {
  for (jit::Field* f : fields_) f->host_done();
}

SiteFormat FieldStream::own_format() const {
  const jit::Field& f = *fields_[0];
  return {file_word(f.word()), fields_.size() * static_cast<std::size_t>(f.components())};
}

char* FieldStream::host_side(jit::Field* field) const {
  return static_cast<char*>(direction_ == Direction::to_file
                                ? const_cast<void*>(field->host_read())
                                : field->host_write());  // a box leaves the other sites alone
}

std::vector<FieldStream::Run> FieldStream::runs_of(std::span<const SiteRun> all) const {
  const detail::LatticeState& lattice = detail::lattice_of(*fields_[0]);
  const detail::RankGrid& grid = lattice.grid();
  const int line = grid.part()[0];
  std::vector<Run> runs;
  std::uint64_t before = 0;
  for (const auto& [begin, count] : all)
    for (std::uint64_t done = 0; done < count;) {
      const detail::Coord x = lattice.whole().from_lexicographic(static_cast<std::int64_t>(begin + done));
      const auto sites = std::min(count - done, static_cast<std::uint64_t>(line - x[0] % line));
      runs.push_back({grid.rank(grid.place_of_site(x)), x, sites, before * site_bytes_});
      done += sites;
      before += sites;
    }
  return runs;
}

// Under the run time's lock, because the end of another stream of a field gives its host side back.
void FieldStream::copy_own(const std::vector<Run>& runs, int rank, char* words, bool packed) const {
  const jit::RuntimeLock lock;
  const detail::Geometry& here = detail::lattice_of(*fields_[0]).here();
  const std::size_t bytes = bytes_of_site(*fields_[0]);
  std::vector<char*> start;
  for (jit::Field* f : fields_) start.push_back(host_side(f));
  for (const Run& run : runs) {
    if (run.rank != rank) continue;
    char* at = packed ? words : words + run.at;
    // INVARIANT: in host order the sites of one parity follow each other along x.
    detail::Coord next = run.first;
    ++next[0];
    const std::int64_t index[2] = {here.index(run.first), run.sites > 1 ? here.index(next) : 0};
    for (std::size_t i = 0; i < run.sites; ++i) {
      const std::size_t offset = (static_cast<std::size_t>(index[i % 2]) + i / 2) * bytes;
      for (char* field : start) {
        if (direction_ == Direction::to_file)
          std::memcpy(at, field + offset, bytes);
        else
          std::memcpy(field + offset, at, bytes);
        at += bytes;
      }
    }
    if (packed) words = at;
  }
}

void FieldStream::move(std::span<const SiteRun> sites, char* words) {
  if (jit::process_communicator().size() > 1) {
    require_others();
    if (sites_of(sites) == 0) return;
    Command command{.what = Command::What::chunk};
    std::vector<SiteRun> runs(sites.begin(), sites.end());
    broadcast_all(command, runs);
  }
  move_on_primary(runs_of(sites), words);
}

void FieldStream::require_others() const {
  if (!others_follow_)
    throw jit::InternalError({.what = "sites of a field that lies on several ranks",
                              .expected = "a call inside of on_primary_with()",
                              .got = "one outside"});
}

std::uint64_t FieldStream::bytes_in_file(const FileSite& site) const {
  return static_cast<std::uint64_t>(detail::lattice_of(*fields_[0]).whole().volume()) * site.bytes;
}

bool FieldStream::move_all(const std::string& path, std::uint64_t offset, const FileSite& site, DataSums& sums) {
  require_others();
  Command command{.what = Command::What::all, .offset = offset, .site = site};
  std::string name = path;
  broadcast_all(command, name);
  return move_together(path, offset, site, sums);
}

/// Sites of this rank by their numbers in its box.
std::vector<FieldStream::Run> FieldStream::own_runs(std::uint64_t begin, std::uint64_t count) const {
  const detail::LatticeState& lattice = detail::lattice_of(*fields_[0]);
  const auto line = static_cast<std::uint64_t>(lattice.grid().part()[0]);
  const int own = jit::process_communicator().rank();
  std::vector<Run> runs;
  for (std::uint64_t done = 0; done < count;) {
    const auto sites = std::min(count - done, line - (begin + done) % line);
    runs.push_back({own, lattice.here().from_lexicographic(static_cast<std::int64_t>(begin + done)), sites, 0});
    done += sites;
  }
  return runs;
}

/// Fletcher's sums: CRC-32 would take longer than reading.
struct FieldStream::Echo {
  std::uint64_t sum = 0, sum_of_sums = 0;
  void add(const std::vector<char>& bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
      sum += word;
      sum_of_sums += sum;
    }
  }
  bool operator==(const Echo&) const = default;
};

// What was written is read back: there are libraries (Open MPI 4.1's OMPIO) that lose what the system says when a disk is full, and
// file systems that lose what ranks write into the same page.
bool FieldStream::move_together(const std::string& path, std::uint64_t offset, const FileSite& site,
                                DataSums& sums) const {
  Echo written, in_file;
  if (direction_ == Direction::from_file) return pass_over(path, offset, site, Pass::read, sums, in_file);
  if (!pass_over(path, offset, site, Pass::write, sums, written)) return false;
  const bool opened = pass_over(path, offset, site, Pass::check, sums, in_file);
  std::string failure;
  if (!opened || in_file != written) {
    const std::string rank = std::to_string(jit::process_communicator().rank());
    failure =
        jit::UserError({.what = "write \"" + path + "\" by all ranks together",
                        .expected = "in the file what rank " + rank + " wrote",
                        .got = opened ? "other data" : "a file that cannot be opened again",
                        .what_now = "See whether the disk is full or damaged; if not, the MPI and this file system "
                                    "do not go together: try another MPI-IO"})
            .what();
  }
  throw_everywhere_of_any(failure);
  return true;
}

// Boxes are of one size, so all ranks make the same calls. What fails on one ends the loop for all.
bool FieldStream::pass_over(const std::string& path, std::uint64_t offset, const FileSite& site, Pass pass,
                            DataSums& sums, Echo& echo) const {
  jit::Communicator& ranks = jit::process_communicator();
  const bool to_file = pass == Pass::write;
  std::string why_not;
  const auto file = jit::open_together(ranks, path, to_file, why_not);
  if (!file) {
    if (is_primary() && pass != Pass::check)
      jit::log_info("io", "\"", path, "\": one rank moves the data of all, as ", why_not);
    return false;
  }
  const detail::LatticeState& lattice = detail::lattice_of(*fields_[0]);
  const SiteFormat format = own_format();
  const auto sites = static_cast<std::uint64_t>(lattice.here().volume());
  const std::uint64_t chunk = std::max<std::uint64_t>(1, kBytesTogether / std::max(site_bytes_, site.bytes));
  std::vector<char> words, raw;
  std::vector<jit::FileBlock> blocks;
  std::string failure;
  for (std::uint64_t begin = 0; begin < sites && !anywhere(!failure.empty()); begin += chunk) {
    const std::uint64_t count = std::min(chunk, sites - begin);
    std::vector<Run> runs;
    /// f(number of the first site in the lattice, sites, their bytes of the file) for each run.
    const auto for_each_run = [&](const auto& f) {
      char* at = raw.data();
      for (const Run& run : runs) {
        f(static_cast<std::uint64_t>(lattice.whole().lexicographic(run.first)), run.sites, at);
        at += run.sites * site.bytes;
      }
    };
    note_failure(failure, [&] {
      words.resize(count * site_bytes_);
      raw.assign(count * site.bytes, '\xff');  // what nobody reads is no number, rather than an old one
      runs = own_runs(begin, count);
      blocks.clear();
      for_each_run([&](std::uint64_t number, std::uint64_t n, char*) {
        const jit::FileBlock next{offset + number * site.bytes, n * site.bytes};
        if (!blocks.empty() && blocks.back().offset + blocks.back().bytes == next.offset)
          blocks.back().bytes += next.bytes;
        else
          blocks.push_back(next);
      });
      if (!to_file) return;
      copy_own(runs, ranks.rank(), words.data(), true);
      site.encode(format, words.data(), raw.data(), count);
      for_each_run([&](std::uint64_t number, std::uint64_t n, const char* at) { sums.add(site, number, n, at); });
      echo.add(raw);
    });
    if (!failure.empty()) blocks.clear();
    note_failure(failure, [&] { to_file ? file->write(blocks, raw.data()) : file->read(blocks, raw.data()); });
    if (to_file || !failure.empty()) continue;
    if (pass == Pass::check) {
      echo.add(raw);
      continue;
    }
    note_failure(failure, [&] {
      for_each_run([&](std::uint64_t number, std::uint64_t n, const char* at) { sums.add(site, number, n, at); });
      site.decode(raw.data(), format, words.data(), count);
      copy_own(runs, ranks.rank(), words.data(), true);
    });
  }
  note_failure(failure, [&] { file->close(); });
  throw_everywhere_of_any(failure);
  if (pass == Pass::check) return true;
  jit::combine(ranks, std::span(&sums, 1), [](DataSums a, const DataSums& b) {
    a.combine(b);
    return a;
  });
  return true;
}

bool FieldSource::write_to(jit::AtomicFile& file, const FileSite& site, DataSums& sums) {
  if (jit::process_communicator().size() == 1) return false;
  const std::uint64_t offset = file.size();
  try {
    if (!move_all(file.lend(), offset, site, sums)) return false;
  } catch (...) {
    file.discard();
    throw;
  }
  file.take_back(bytes_in_file(site));
  return true;
}

bool FieldSink::read_from(const InputFile& file, std::uint64_t offset, const FileSite& site, DataSums& sums) {
  if (jit::process_communicator().size() == 1 || !move_all(file.path(), offset, site, sums)) return false;
  file.require(offset, bytes_in_file(site), "data of a field");
  return true;
}

// A message from another rank ends with a byte that tells whether its sites are there: it sends in any case, as the
// primary waits for it.
void FieldStream::move_on_primary(const std::vector<Run>& runs, char* words) {
  jit::Communicator& ranks = jit::process_communicator();
  const int own = ranks.rank();
  const bool to_file = direction_ == Direction::to_file;
  std::map<int, std::size_t> bytes;
  for (const Run& run : runs)
    if (run.rank != own) bytes[run.rank] += run.sites * site_bytes_;
  std::map<int, std::vector<char>> parcels;
  for (const auto& [rank, size] : bytes) parcels[rank] = parcel_of(size + to_file);
  /// copy(place in a parcel, place in the chunk, bytes) for each run of another rank.
  const auto visit_parcels = [&](const auto& copy) {
    std::map<int, char*> next;
    for (auto& [rank, parcel] : parcels) next[rank] = parcel.data();
    for (const Run& run : runs) {
      if (run.rank == own) continue;
      copy(next[run.rank], words + run.at, run.sites * site_bytes_);
      next[run.rank] += run.sites * site_bytes_;
    }
  };
  if (!to_file) visit_parcels([](char* parcel, const char* chunk, std::size_t n) { std::memcpy(parcel, chunk, n); });
  std::vector<std::unique_ptr<jit::Message>> messages;
  for (auto& [rank, parcel] : parcels) {
    messages.push_back(to_file ? ranks.incoming(parcel.data(), parcel.size(), rank)
                               : ranks.outgoing(parcel.data(), parcel.size(), rank));
    messages.back()->start();
  }
  for (const auto& message : messages) message->wait();
  copy_own(runs, own, words, false);
  if (!to_file) return;
  for (const auto& [rank, parcel] : parcels)
    if (parcel.back() == 0) throw jit::UserError("rank " + std::to_string(rank) + " could not give its sites");
  visit_parcels([](const char* parcel, char* chunk, std::size_t n) { std::memcpy(chunk, parcel, n); });
}

void FieldStream::move_elsewhere(const std::vector<Run>& runs) const {
  jit::Communicator& ranks = jit::process_communicator();
  const int own = ranks.rank();
  std::size_t bytes = 0;
  for (const Run& run : runs)
    if (run.rank == own) bytes += run.sites * site_bytes_;
  if (bytes == 0) return;
  if (direction_ == Direction::from_file) {
    std::vector<char> parcel = parcel_of(bytes);
    ranks.receive(parcel.data(), parcel.size(), kPrimary);
    return copy_own(runs, own, parcel.data(), true);
  }
  std::vector<char> parcel = parcel_of(bytes + 1);
  std::exception_ptr failure;
  try {
    copy_own(runs, own, parcel.data(), true);
    parcel.back() = 1;
  } catch (...) {
    failure = std::current_exception();
  }
  ranks.send(parcel.data(), parcel.size(), kPrimary);
  if (failure) std::rethrow_exception(failure);
}

void on_primary_with(FieldStream& stream, const std::function<void()>& action) {
  if (jit::process_communicator().size() == 1) return action();  // alone: the exception keeps its type
  std::string failure;
  // Statements that are not done yet, which may exchange faces, come before any of the primary's doing.
  note_failure(failure, [&] {
    const jit::RuntimeLock lock;
    for (jit::Field* f : stream.fields_) stream.host_side(f);
  });
  throw_everywhere_of_any(failure);
  Command command{};
  if (is_primary()) {
    stream.others_follow_ = true;
    note_failure(failure, action);
    stream.others_follow_ = false;
    command = {};
    broadcast(command);
  } else {
    for (broadcast(command); command.what != Command::What::end; broadcast(command)) {
      std::string path;
      std::vector<SiteRun> runs;
      if (command.what == Command::What::all) broadcast(path);
      if (command.what == Command::What::chunk) broadcast(runs);
      note_failure(failure, [&] {
        if (command.what == Command::What::chunk) return stream.move_elsewhere(stream.runs_of(runs));
        DataSums sums;
        stream.move_together(path, command.offset, command.site, sums);
      });
    }
  }
  throw_everywhere_of_any(failure);
}

}  // namespace QDP::io
