// tests/python/programs/works.cpp - the threads of tutti.torch over a stub of torch (../stub), for sanitizers: works that
// are waited for, polled, dropped, and completed while callbacks make other calls; messages; groups that go.
//
// Starts three ranks, which meet in files. Ten rounds; 1,000 with TUTTI_TEST_LONG=1.
#include "callbacks.hpp"
#include "p2p.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

using namespace tutti_torch;
using std::chrono::milliseconds;

namespace {

constexpr int RANKS = 3;
constexpr auto LIMIT = milliseconds(60000);

void require(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "works: %s\n", what);
  _exit(1);
}

// Only this rank writes a key.
class Files : public c10d::Store {
public:
  explicit Files(std::string folder) : folder_(std::move(folder)) {}

  void set(const std::string &key, const std::vector<uint8_t> &value) override {
    std::string name = path(key);
    std::ofstream(name + ".new", std::ios::binary) << std::string(value.begin(), value.end());
    require(rename((name + ".new").c_str(), name.c_str()) == 0, "a key was not stored");
  }
  std::vector<uint8_t> get(const std::string &key) override {
    std::ifstream file(path(key), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  int64_t add(const std::string &, int64_t value) override { return count_ += value; }
  bool check(const std::vector<std::string> &keys) override {
    for (const auto &key : keys)
      if (access(path(key).c_str(), R_OK) != 0)
        return false;
    return true;
  }
  void wait(const std::vector<std::string> &keys, const milliseconds &limit) override {
    auto end = std::chrono::steady_clock::now() + limit;
    while (!check(keys)) {
      require(std::chrono::steady_clock::now() < end, "a rank has not come");
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

private:
  std::string path(std::string key) const {
    for (char &letter : key)
      letter = letter == '/' ? '-' : letter;
    return folder_ + "/" + key;
  }
  std::string folder_;
  int64_t count_ = 0;
};

class HoldsGil {
public:
  HoldsGil() { PyGILState_Ensure(); }
  ~HoldsGil() { PyGILState_Release(0); }
};

// What Group and Draft do, for one tensor.
struct Calls {
  std::shared_ptr<Comm> comm;
  int rank;
  Running running;

  c10::intrusive_ptr<Work> sum(const at::Tensor &tensor) {
    WithoutGil without;
    auto on = Callbacks::find_comm(comm);
    auto work = c10::make_intrusive<Work>(on, rank, c10d::OpType::ALLREDUCE, "sum", std::vector{tensor},
                                          std::vector{tensor}, LIMIT);
    work->held.push_back(tensor);
    tutti_request *request = nullptr;
    require(tutti_allreduce_start(tensor->data(), tensor->data(), int64_t(tensor->size()), TUTTI_FLOAT32, TUTTI_SUM,
                                  on->comm, &request) == TUTTI_OK,
            "allreduce did not start");
    work->requests.push_back(request);
    work->callbacks = std::make_shared<Callbacks>(on, on->calls++);
    running.add(work);
    return work;
  }

  c10::intrusive_ptr<Work> send(const at::Tensor &tensor, int to) {
    WithoutGil without;
    auto work = c10::make_intrusive<Work>(comm, rank, c10d::OpType::SEND, "send", std::vector{tensor},
                                          std::vector<at::Tensor>{}, LIMIT);
    auto channel = Channels::of(*comm->job)->get(rank, to);
    auto bytes = int64_t(tensor->size() * sizeof(float));
    work->held.push_back(tensor);
    work->words = {comm->number, 0, bytes};
    std::lock_guard<std::mutex> held(channel->lock);
    for (int part = 0; part < 2; part++) {
      void *data = part == 0 ? static_cast<void *>(work->words.data()) : tensor->data();
      tutti_request *request = nullptr;
      require(tutti_broadcast_start(data, data, part == 0 ? int64_t(sizeof(Header)) : bytes, TUTTI_BYTE, 0,
                                    channel->comm, &request) == TUTTI_OK,
              "send did not start");
      work->requests.push_back(request);
    }
    running.add(work);
    return work;
  }

  c10::intrusive_ptr<RecvWork> receive(const at::Tensor &tensor, const std::vector<int> &from,
                                       milliseconds limit = LIMIT) {
    WithoutGil without;
    auto work = c10::make_intrusive<RecvWork>(comm, rank, c10d::OpType::RECV, "recv", std::vector{tensor},
                                              std::vector{tensor}, limit);
    work->held.push_back(tensor);
    work->data = reinterpret_cast<char *>(tensor->data());
    work->wanted = {comm->number, 0, int64_t(tensor->size() * sizeof(float))};
    work->ranks = from;
    for (int rank_of : from)
      work->channels.push_back(Channels::of(*comm->job)->get(rank_of, rank));
    work->want();
    running.add(work);
    return work;
  }
};

at::Tensor tensor_of(float value, size_t count = 100) { return std::make_shared<std::vector<float>>(count, value); }

void require_all(const at::Tensor &tensor, float value, const char *what) {
  for (float element : *tensor)
    require(element == value, what);
}

void wait(const c10::intrusive_ptr<Work> &work) {
  WithoutGil without;
  work->wait();
}

// ---- what may happen to a work ----

// Its future calls back, and the callback makes calls of its own, one of which has a future, too.
void call_back(Calls &calls) {
  auto tensor = tensor_of(1), second = tensor_of(2), third = tensor_of(3), beside = tensor_of(4);
  std::atomic<int> called{0};
  auto work = calls.sum(tensor);
  auto future = work->getFuture();
  future->addCallback([&, callbacks = work->callbacks] {
    HoldsGil holds;
    Callbacks::Scope scope(callbacks.get());
    require_all(tensor, RANKS, "a sum whose callback runs");
    calls.sum(second)->getFuture()->addCallback([&] { called++; });
    auto last = calls.sum(third);
    wait(last);
    called++;
  });
  auto other = calls.sum(beside);
  wait(other);
  require_all(beside, 4 * RANKS, "a sum beside a callback's");
  WithoutGil without;
  future->wait();
  while (called < 2)
    std::this_thread::yield();
  require_all(second, 2 * RANKS, "a callback's sum with a future");
  require_all(third, 3 * RANKS, "a callback's sum");
}

// The future of one that another call finds complete just now, and whose callback makes a call.
void call_back_in_a_call(Calls &calls) {
  auto tensor = tensor_of(1), beside = tensor_of(2), last = tensor_of(3);
  auto work = calls.sum(tensor);
  std::atomic<bool> ending{false}, called{false};
  work->after = [&] {
    ending = true;
    std::this_thread::sleep_for(milliseconds(2));
  };
  std::thread thread([&] {
    while (!ending)
      std::this_thread::yield();
    work->getFuture()->addCallback([&, callbacks = work->callbacks] {
      HoldsGil holds;
      Callbacks::Scope scope(callbacks.get());
      wait(calls.sum(last));
      called = true;
    });
  });
  for (int n = 0; n < 2; n++) // the second call finds it, if the first does not
    wait(calls.sum(beside));
  WithoutGil without;
  thread.join();
  while (!called)
    std::this_thread::yield();
}

// Several threads wait for one, one asks, and one wants its future.
void wait_together(Calls &calls) {
  auto tensor = tensor_of(1, 5000);
  auto work = calls.sum(tensor);
  std::vector<std::thread> threads;
  for (int n = 0; n < 2; n++)
    threads.emplace_back([&] { work->wait(); });
  threads.emplace_back([&] {
    HoldsGil holds;
    while (!work->isCompleted())
      std::this_thread::yield();
    require_all(tensor, RANKS, "a sum that was asked for");
  });
  threads.emplace_back([&] { work->getFuture()->wait(); });
  WithoutGil without;
  for (auto &thread : threads)
    thread.join();
  require_all(tensor, RANKS, "a sum that several wait for");
}

void drop(Calls &calls) {
  for (int n = 0; n < 5; n++)
    calls.sum(tensor_of(1));
  calls.sum(tensor_of(1))->getFuture();
}

// Around the ring: received by waiting, by asking, with a future, and from anywhere.
void pass_messages(Calls &calls) {
  int next = (calls.rank + 1) % RANKS, before = (calls.rank + RANKS - 1) % RANKS;
  for (int way = 0; way < 4; way++) {
    auto out = tensor_of(float(calls.rank)), in = tensor_of(-1);
    std::vector<int> from = way == 3 ? std::vector<int>{before, next} : std::vector<int>{before};
    auto receive = calls.receive(in, from);
    auto send = calls.send(out, next);
    if (way == 1)
      while (!receive->isCompleted())
        std::this_thread::yield();
    if (way == 2) {
      auto future = receive->getFuture();
      WithoutGil without;
      future->wait();
    }
    wait(receive);
    require_all(in, float(before), "a message");
    if (way != 1)
      wait(send);
  }
}

// The head of a message comes, and its sender stalls: whoever receives it gives it up at the time limit. Not before all
// ranks have the messages that they receive from anywhere: such a receive would take the head.
void stall(Calls &calls) {
  wait(calls.sum(tensor_of(1)));
  WithoutGil without;
  auto tensor = tensor_of(0);
  int64_t head[3] = {calls.comm->number, 0, int64_t(tensor->size() * sizeof(float))};
  tutti_request *request = nullptr;
  if (calls.rank == 1) {
    auto channel = Channels::of(*calls.comm->job)->get(1, 0);
    require(tutti_broadcast_start(head, head, sizeof head, TUTTI_BYTE, 0, channel->comm, &request) == TUTTI_OK &&
                tutti_wait(&request) == TUTTI_OK,
            "a head was not sent");
  }
  if (calls.rank != 0)
    return;
  std::string why;
  try {
    calls.receive(tensor, {1}, milliseconds(100))->wait();
  } catch (const std::runtime_error &error) {
    why = error.what();
  }
  require(why.find("recv with tag 0 waited 0.1") != std::string::npos, "a message that stalls has no time limit");
}

// A store that goes when the job's boot asks it.
class Gone : public Files {
public:
  using Files::Files;
  bool check(const std::vector<std::string> &) override { throw std::runtime_error("the store is gone"); }
  void wait(const std::vector<std::string> &keys, const milliseconds &) override {
    if (keys[0].find("boot") != std::string::npos)
      check(keys);
  }
};

void lose_store(const std::string &folder) {
  require(mkdir(folder.c_str(), 0700) == 0, "there is no folder for a rank");
  WithoutGil without;
  std::string why;
  try {
    join(c10::make_intrusive<Gone>(folder), 0, 1, LIMIT);
  } catch (const std::runtime_error &error) {
    why = error.what();
  }
  require(why.find("the store is gone") != std::string::npos, "nobody says that the store is gone");
}

void run(int rank, int rounds, const std::string &folder) {
  HoldsGil holds;
  lose_store(folder + "/" + std::to_string(rank));
  auto store = c10::make_intrusive<Files>(folder);
  auto open = [&] {
    WithoutGil without;
    return join(store, rank, RANKS, LIMIT);
  };
  Calls calls{open(), rank, {}};
  for (int round = 0; round < rounds; round++) {
    call_back(calls);
    call_back_in_a_call(calls);
    wait_together(calls);
    drop(calls);
    pass_messages(calls);
    if (round % 10 == 0) { // as ~Group does
      Calls others{open(), rank, {}};
      drop(others);
      WithoutGil without;
      others.running.drain(std::chrono::steady_clock::time_point::max());
      tidy_completing();
    }
  }
  stall(calls);
  WithoutGil without;
  auto last = calls.sum(tensor_of(1));
  last->wait();
  calls.running.drain(std::chrono::steady_clock::time_point::max());
  stop_completing(std::chrono::steady_clock::now() + LIMIT);
  tidy_completing();
}

} // namespace

int main() {
  int rounds = getenv("TUTTI_TEST_LONG") ? 1000 : 10, failed = 0;
  char folder[] = "/tmp/tutti-works-XXXXXX";
  require(mkdtemp(folder), "there is no folder for files");
  for (int rank = 0; rank < RANKS; rank++)
    if (fork() == 0) {
      alarm(rounds < 1000 ? 120 : 1200); // who waits for ever fails
      run(rank, rounds, folder);
      exit(0);
    }
  for (int status; wait(&status) > 0;)
    failed += status != 0;
  require(system((std::string("rm -r ") + folder).c_str()) == 0, "the folder is left");
  printf("%d rounds of %d ranks: %s\n", rounds, RANKS, failed ? "failed" : "all right");
  return failed ? 1 : 0;
}
