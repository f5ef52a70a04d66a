// Statements that were issued and have not run yet (design D10): whoever holds them runs them when a field that they read or
// write is looked at or changed in another way, and at the looks that no field knows of.
#pragma once

namespace jit {

class Field;

/// The holder's function: it runs all, or what has to be done before a look at a field. Under the lock of the run time; it may
/// throw what statements throw.
void set_deferred(void (*run)(const Field* look));

/// Whether statements wait. Under the lock.
extern constinit bool statements_are_deferred;
inline void set_deferred_waiting(bool waiting) noexcept { statements_are_deferred = waiting; }
inline bool deferred_waiting() noexcept { return statements_are_deferred; }

/// Runs all that wait: before time is taken, counters are read, processes are forked. Takes the lock.
void run_deferred();
void run_deferred(const Field& look);
/// The same where nothing may be thrown: fields whose statements fail have no contents then, and say why.
void run_deferred_noexcept() noexcept;

}  // namespace jit
