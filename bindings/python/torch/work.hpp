// bindings/python/torch/work.hpp - a call under way, as torch sees it.
//
// Whoever waits for it moves it on. Where somebody has asked for its future, or it goes on when a call is complete, threads
// of the process complete it (Completer), and with it the future, whose callbacks may make other calls and wait: no lock is
// held then. A work that torch
// has dropped is kept by its group until it is complete, with its tensors.
#pragma once

#include "job.hpp"

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tutti_torch {

class Callbacks;

using Clock = std::chrono::steady_clock;

// For how long the job was stopped (Ctrl-Z), or its machine slept, between two looks that follow one another in a moment
// where it runs. A time limit does not count that.
inline Clock::duration stop_in(Clock::duration between) {
  return between > std::chrono::seconds(1) ? between : Clock::duration::zero();
}

class Work : public c10d::Work {
public:
  Work(std::shared_ptr<Comm> comm, int rank, c10d::OpType op, const char *title, const std::vector<at::Tensor> &inputs,
       std::vector<at::Tensor> outputs, std::chrono::milliseconds timeout);
  ~Work() override;

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  std::vector<at::Tensor> result() override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {}
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

  // Waits until it has ended, whether with an error or without; no longer than that, and gives it up.
  void end() { end_within(timeout_); }
  virtual void end_with_group() { end(); }
  void end_by(std::chrono::steady_clock::time_point until);
  // Completes it if its call is complete; whether it is. With a future, the Completer does so: callbacks may take long.
  bool look();
  enum Stage { RUNS, ENDS, ENDED };
  // The same in two steps. ENDS: whoever hears that calls complete. ENDED: another has heard it.
  Stage try_end(tutti_status *status, Clock::duration stopped = Clock::duration::zero());
  void complete(tutti_status status);

  bool is_done() const { return done_.load(std::memory_order_acquire); }
  // This thread waits for it, and runs a handler of a signal in the middle.
  bool waits_here() const { return waiting_ == std::this_thread::get_id(); }
  // Threads of the process complete it, where nobody waits for it: what it has to begin when a call is complete must not
  // wait for this thread, which may be in another call. The second says that `told` is called whenever it can move on.
  void complete_in_time();
  void move_when_told();
  static void told(void *unused);

  std::vector<tutti_request *> requests;       // complete ones are null
  std::vector<at::Tensor> held;                // what the call uses
  std::vector<int64_t> words;                  // its lists
  std::shared_ptr<Callbacks> callbacks;        // of its future; null: of a message
  std::function<void()> after;                 // brings results to where torch wants them
  std::chrono::steady_clock::time_point begun; // for its time limit

protected:
  // Whether its calls are complete, and with which status. late: they must be, or end with an error.
  virtual bool step(bool late, tutti_status *status);
  virtual tutti_status wait_for(std::chrono::milliseconds limit);
  virtual bool is_on_comm() const { return true; } // what is under way
  virtual bool has_limit() const { return true; }  // while nobody waits
  std::string error_text; // instead of tutti's; "": tutti's
  const std::shared_ptr<Comm> &comm() const { return comm_; }
  bool has_future() const { return has_future_; }
  void tell_when_complete(); // the Completer

private:
  // Waits for it no longer than that, and gives it up.
  void end_within(std::chrono::milliseconds limit);
  tutti_status wait_here(std::chrono::milliseconds limit); // handlers of signals run meanwhile
  void watch(std::chrono::milliseconds limit);
  std::exception_ptr bring_results();
  void give_up(tutti_status status);

  std::shared_ptr<Comm> comm_;
  std::vector<at::Tensor> outputs_;
  std::chrono::milliseconds timeout_;
  std::mutex collecting_; // held by who waits for the request
  std::atomic<std::thread::id> waiting_{std::thread::id()}; // that one; none: nobody does
  std::atomic<bool> ended_{false}, done_{false}, has_future_{false};
  std::mutex future_lock_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

// Between two looks, down a ladder: another process may need the core.
void pause(int looks);
// No callbacks run any more, but for those that run longer than that.
void stop_completing(std::chrono::steady_clock::time_point until);
// What others have completed is let go of.
void tidy_completing();

using Works = std::deque<c10::intrusive_ptr<Work>>;

void take_done(Works *from, Works *done);

// Works of a group that nobody may be waiting for.
class Running {
public:
  void add(c10::intrusive_ptr<Work> work); // lets go of others that are complete
  // Waits for all but messages that have not come: these end, unless the process does.
  void drain(std::chrono::steady_clock::time_point until);

private:
  static constexpr size_t FEW = 4;

  void sweep(std::unique_lock<std::mutex> &held, Works *gone);

  std::mutex lock_;
  Works works_;
  size_t most_ = FEW; // with more behind a message, all of them are looked at
};

} // namespace tutti_torch
