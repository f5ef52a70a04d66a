// Kernels that processes of one machine make for each other: each is made once, whoever comes first, and whoever dies meanwhile.
#include "jit/cache/shared_kernels.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "jit/support/private_folder.hpp"

using jit::HostMemory;
using jit::SharedKernels;

namespace {

constexpr std::size_t kPlenty = std::size_t{64} << 20;

/// Memory without a name, for this process and those that it forks.
HostMemory memory(std::size_t bytes = kPlenty) {
  std::string name;
  HostMemory made = HostMemory::make(bytes, name);
  HostMemory::forget(name);
  CHECK_FALSE(std::filesystem::exists(name));
  return made;
}

/// A process with this work; its status is what it returns.
pid_t start(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string key(int i) { return "kernel " + std::to_string(i) + std::string(static_cast<std::size_t>(i), 'k'); }
std::string object(int i) { return std::string(static_cast<std::size_t>(i * 37 % 5000), static_cast<char>(i)); }

/// The object of a key, made under the turn if it is not there.
std::string get(SharedKernels& kernels, int i, const std::function<void()>& on_making) {
  const SharedKernels::Turn turn = kernels.take_turn(key(i));
  if (auto found = kernels.find(key(i))) return *found;
  on_making();
  kernels.publish(key(i), object(i));
  return object(i);
}

/// A process that has the turn of kernel 1 for a minute; it has it when this returns.
pid_t holder_of_turn(HostMemory& shared, std::atomic<int>& begun) {
  const pid_t holder = start([&] {
    SharedKernels kernels(shared);
    const SharedKernels::Turn turn = kernels.take_turn(key(1));
    begun = 1;
    std::this_thread::sleep_for(std::chrono::seconds(60));
    return 0;
  });
  while (begun == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holder;
}

}  // namespace

TEST_CASE("eight processes in orders of their own make each kernel once, and all have it") {
  HostMemory shared = memory(), counts = memory();
  auto* made = reinterpret_cast<std::atomic<int>*>(counts.at(0));
  constexpr int kKernels = 300;
  std::vector<pid_t> children;
  for (unsigned seed = 0; seed < 8; ++seed)
    children.push_back(start([&] {
      SharedKernels kernels(shared);
      std::mt19937 random(seed);
      std::vector<int> order(kKernels);
      for (int i = 0; i < kKernels; ++i) order[static_cast<std::size_t>(i)] = i;
      std::shuffle(order.begin(), order.end(), random);
      for (const int i : order) {
        const auto make = [&] {
          ++made[i];
          if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        };
        if (get(kernels, i, make) != object(i)) return 1;
      }
      return 0;
    }));
  for (const pid_t child : children) CHECK(status_of(child) == 0);
  int once = 0;
  for (int i = 0; i < kKernels; ++i) once += made[i] == 1;
  CHECK(once == kKernels);
}

TEST_CASE("others wait for the one that makes a kernel; if it dies the next one makes it") {
  HostMemory shared = memory(), flags = memory();
  auto* begun = reinterpret_cast<std::atomic<int>*>(flags.at(0));
  const pid_t maker = holder_of_turn(shared, *begun);
  const pid_t waiter = start([&] {
    SharedKernels kernels(shared);
    bool mine = false;
    *begun = 2;
    const bool right = get(kernels, 1, [&] { mine = true; }) == object(1);
    return right && mine ? 0 : 1;
  });
  while (*begun == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  int status = 0;
  CHECK(waitpid(waiter, &status, WNOHANG) == 0);  // it waits
  kill(maker, SIGKILL);
  CHECK(status_of(maker) == 1000 + SIGKILL);
  CHECK(status_of(waiter) == 0);
  SharedKernels kernels(shared);
  CHECK(kernels.find(key(1)) == object(1));
}

TEST_CASE("whoever takes too long is not waited for") {
  HostMemory shared = memory(), flags = memory();
  auto* begun = reinterpret_cast<std::atomic<int>*>(flags.at(0));
  const pid_t maker = holder_of_turn(shared, *begun);
  SharedKernels kernels(shared);
  const auto begin = std::chrono::steady_clock::now();
  {
    const SharedKernels::Turn turn = kernels.take_turn(key(1), 0.1);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  kill(maker, SIGKILL);
  status_of(maker);
}

TEST_CASE("keys that begin alike, empty objects, and a key that was published twice") {
  HostMemory shared = memory();
  SharedKernels kernels(shared), others(shared);
  CHECK_FALSE(kernels.find("a"));
  CHECK(kernels.publish("a", "of a"));
  CHECK(others.publish("ab", ""));
  CHECK(others.publish("a", "again"));
  for (SharedKernels* one : {&kernels, &others}) {
    CHECK(one->find("a").value_or("none") == "again");
    CHECK(one->find("ab").value_or("none") == "");
    CHECK_FALSE(one->find("abc"));
    CHECK_FALSE(one->find(""));
  }
}

TEST_CASE("what does not fit is not there, and what was there stays") {
  HostMemory shared = memory(std::size_t{1} << 20);
  SharedKernels kernels(shared);
  CHECK(kernels.publish("a", "of a"));
  CHECK_FALSE(kernels.publish("large", std::string(std::size_t{2} << 20, 'x')));
  CHECK_FALSE(kernels.find("large"));
  int fitted = 0;
  while (kernels.publish("more " + std::to_string(fitted), std::string(10000, 'y'))) ++fitted;
  CHECK(fitted > 50);
  CHECK(fitted < 110);
  CHECK(kernels.find("a") == "of a");
  CHECK(kernels.find("more " + std::to_string(fitted - 1)) == std::string(10000, 'y'));
}

TEST_CASE("memory that is too small for anything: each makes its own") {
  HostMemory shared = memory(100);
  SharedKernels kernels(shared);
  {
    const SharedKernels::Turn turn = kernels.take_turn("a");
  }
  CHECK_FALSE(kernels.publish("a", "of a"));
  CHECK_FALSE(kernels.find("a"));
}

TEST_CASE("only what this user alone may write is opened") {
  std::string name;
  const HostMemory made = HostMemory::make(4096, name);
  CHECK(HostMemory::open(name).size() == 4096);
  REQUIRE(chmod(name.c_str(), 0666) == 0);
  CHECK_THROWS_AS(HostMemory::open(name), jit::UntrustedFile);
  const std::string link = name + "-link";
  REQUIRE(symlink(name.c_str(), link.c_str()) == 0);
  CHECK_THROWS_AS(HostMemory::open(link), jit::FileError);
  HostMemory::forget(link);
  HostMemory::forget(name);
  CHECK_THROWS_AS(HostMemory::open(name), jit::FileError);
}
