#include "qdp/util/primary.hpp"

#include <exception>
#include <span>

#include "jit/comm/collectives.hpp"
#include "jit/support/error.hpp"

namespace QDP::io {

bool is_primary() { return jit::process_communicator().rank() == kPrimary; }
bool is_alone() { return jit::process_communicator().size() == 1; }

void broadcast(void* data, std::size_t bytes) { jit::process_communicator().broadcast(data, bytes, kPrimary); }

void broadcast(std::string& text) { jit::broadcast(jit::process_communicator(), text, kPrimary); }

void broadcast(std::vector<std::string>& texts) {
  std::size_t size = texts.size();
  broadcast(size);
  texts.resize(size);
  for (std::string& text : texts) broadcast(text);
}

double sum(double value) {
  jit::reduce(jit::process_communicator(), std::span(&value, 1), jit::ReductionValue::Kind::sum);
  return value;
}

void require_same_on_all_ranks(const std::string& what, const std::string& mine, const std::string& what_now) {
  jit::require_same_on_all_ranks(jit::process_communicator(), what, mine, what_now);
}

bool anywhere(bool here) { return jit::any_of(jit::process_communicator(), here); }

void throw_everywhere(std::string failure) {
  broadcast(failure);
  if (!failure.empty()) throw jit::UserError(failure);
}

void throw_everywhere_of_any(std::string failure) {
  jit::Communicator& ranks = jit::process_communicator();
  int failed = failure.empty() ? -1 : ranks.rank();
  jit::reduce(ranks, std::span(&failed, 1), jit::ReductionValue::Kind::max);
  if (failed < 0) return;
  jit::broadcast(ranks, failure, failed);
  throw jit::UserError(failure);
}

std::string failure_of(Call action, const char* unknown) {
  try {
    action();
  } catch (const std::exception& e) {
    return *e.what() != '\0' ? e.what() : unknown;
  }
  return {};
}

void on_primary(Call action) {
  if (is_alone()) return action();  // alone: the exception keeps its type
  throw_everywhere(is_primary() ? failure_of(action, "an error without a text on the primary rank") : std::string());
}

void on_every_rank(Call action) {
  if (is_alone()) return action();
  throw_everywhere_of_any(failure_of(action));
}

}  // namespace QDP::io
