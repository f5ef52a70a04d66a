#include "qdp/expr/post.hpp"

#include <cstring>
#include <utility>

#include "jit/memory/residency.hpp"

namespace QDP::detail {

namespace {

std::shared_ptr<jit::Field> buffer(const std::shared_ptr<const jit::SiteOrder>& order, Shape shape) {
  return order ? std::make_shared<jit::Field>(order, shape.word, shape.components()) : nullptr;
}

/// In somebody else's memory.
std::shared_ptr<jit::Field> lent(const std::shared_ptr<const jit::SiteOrder>& order, Shape shape, void* memory) {
  return std::make_shared<jit::Field>(order, shape.word, shape.components(), memory);
}

LetterPart add_part(Letter& letter, const Segment& s, Shape shape) {
  const std::size_t bytes = static_cast<std::size_t>(s.sites) * shape.bytes();
  return {.segment = &s, .first_byte = letter.add(bytes), .bytes = bytes};
}

/// Of a part in its buffer in host order.
std::size_t first_byte(Shape shape, const LetterPart& part) {
  return static_cast<std::size_t>(part.segment->first_site) * shape.bytes();
}

}  // namespace

Spent& spent() {
  static Spent all;
  return all;
}

std::size_t Letter::add(std::size_t bytes) { return std::exchange(bytes_, bytes_ + bytes); }

void Letter::place() {
  if (bytes_ == 0) return;
  memory_.reset(static_cast<std::byte*>(jit::Memory::host().allocate(bytes_)),
                [bytes = bytes_](std::byte* memory) { jit::Memory::host().free(memory, bytes); });
}

Post::Post(const LatticeState& lattice, std::span<const Shifted> statements) : by_groups_(lattice.alike()) {
  for (const Shifted& statement : statements) {
    auto& values = travelling.emplace_back();
    for (std::size_t i = 0; i < statement.size(); ++i) {
      Travelling& t = values.emplace_back();
      t.halo = &statement.faces->halos[statement.maps[i]];
      t.shape = statement.shapes[i];
      for (const Segment& s : t.halo->to) t.to.push_back(add_part(mail_[s.rank].out, s, t.shape));
      for (const Segment& s : t.halo->from) t.from.push_back(add_part(mail_[s.rank].in, s, t.shape));
    }
    if (statement.faces != statements[0].faces) others_.push_back(statement.faces);
  }
  jit::Communicator& ranks = jit::process_communicator();
  for (auto& [rank, mail] : mail_) {
    mail.out.place();
    mail.in.place();
    if (mail.out.size() > 0) mail.sent = ranks.outgoing(mail.out.at(0), mail.out.size(), rank);
    if (mail.in.size() > 0) mail.received = ranks.incoming(mail.in.at(0), mail.in.size(), rank);
  }
  for (std::size_t s = 0; s < statements.size(); ++s) {
    const Shifted& statement = statements[s];
    for (Travelling& t : travelling[s]) place_buffers(t);
    auto& of_statement = buffers.emplace_back();
    for (const Face& face : statement.faces->faces) {
      auto& of_face = of_statement.emplace_back(statement.size());
      for (const Face::Values& values : face.values)
        for (std::size_t i = 0; i < statement.size(); ++i)
          if (statement.maps[i] == static_cast<std::size_t>(values.map) && !values.arrived)
            of_face[i] = buffer(face.order, statement.shapes[i]);
    }
  }
}

void Post::place_buffers(Travelling& t) {
  t.out_in_place = in_place(t.halo->outgoing, t.to);
  t.in_in_place = in_place(t.halo->incoming, t.from);
  t.outgoing = t.out_in_place ? lent(t.halo->outgoing, t.shape, place_of(t.to[0], &Mail::out))
                              : buffer(t.halo->outgoing, t.shape);
  t.incoming = t.in_in_place ? lent(t.halo->incoming, t.shape, place_of(t.from[0], &Mail::in))
                             : buffer(t.halo->incoming, t.shape);
}

/// Whether a buffer may lie in the letter: it is one part, of whole groups, and the device reads the host's memory.
bool Post::in_place(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<LetterPart>& parts) const {
  return by_groups_ && parts.size() == 1 && order->sites == order->groups * order->lanes &&
         parts[0].first_byte % jit::Device::kAlignment == 0 && !jit::Residency::instance().separate();
}

std::byte* Post::place_of(const LetterPart& part, Letter Mail::* letter) {
  return (mail_.at(part.segment->rank).*letter).at(part.first_byte);
}

void Post::start() {
  for (const auto& values : travelling)
    for (const Travelling& t : values) {
      if (t.out_in_place) continue;
      for (const LetterPart& part : t.to) {
        std::byte* to = place_of(part, &Mail::out);
        if (by_groups_)
          t.outgoing->read_groups(part.segment->first_group, part.segment->groups, to);
        else
          std::memcpy(to, static_cast<const std::byte*>(t.outgoing->host_read()) + first_byte(t.shape, part),
                      part.bytes);
      }
    }
  for (auto& [rank, mail] : mail_)
    if (mail.received) mail.received->start();
  for (auto& [rank, mail] : mail_)
    if (mail.sent) {
      mail.sent->start();
      ++spent().messages;
      spent().bytes += static_cast<std::int64_t>(mail.out.size());
    }
}

void Post::poll() {
  // Each look lets MPI move some hundred KiB at the most.
  constexpr int kLooks = 8;
  bool done = false;
  for (int look = 0; look < kLooks && !done; ++look) {
    done = true;
    for (auto& [rank, mail] : mail_) {
      if (mail.received && !mail.received->done()) done = false;
      if (mail.sent && !mail.sent->done()) done = false;
    }
  }
}

void Post::receive(const Travelling& t) {
  for (const LetterPart& part : t.from) {
    wait(*mail_[part.segment->rank].received);
    const std::byte* from = place_of(part, &Mail::in);
    if (t.in_in_place)
      t.incoming->device_write(true);
    else if (by_groups_)
      t.incoming->overwrite_groups(part.segment->first_group, part.segment->groups, from);
    else
      std::memcpy(static_cast<std::byte*>(t.incoming->host_overwrite()) + first_byte(t.shape, part), from, part.bytes);
  }
}

void Post::finish() {
  for (auto& [rank, mail] : mail_) {
    if (mail.received) wait(*mail.received);
    if (mail.sent) wait(*mail.sent);
  }
}

void Post::wait(jit::Message& message) {
  const Timed timed(spent().wait);
  message.wait();
}

}  // namespace QDP::detail
