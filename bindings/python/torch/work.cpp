// bindings/python/torch/work.cpp - see work.hpp.
#include "work.hpp"

#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <condition_variable>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tutti_torch {

// ---- the threads that complete works with futures ----

// One of them watches the works. Callbacks of a future may wait for other works: before a thread completes a work, it
// leaves the watch to another one. Never destroyed: works may outlive whatever runs at exit. A forked process has another.
class Completer {
public:
  static Completer &get() {
    static Completer *one = [] {
      pthread_atfork(nullptr, nullptr, [] { one = new Completer; });
      return new Completer;
    }();
    return *one;
  }

  void add(c10::intrusive_ptr<Work> work) {
    std::lock_guard<std::mutex> held(lock_);
    works_.push_back(std::move(work));
    keep_spare();
    changed_.notify_one();
  }

  // It is looked at whenever somebody tells, and let go of some time after it is done.
  void keep(c10::intrusive_ptr<Work> work) {
    Works done; // let go of without the lock: tensors may belong to Python
    std::lock_guard<std::mutex> held(lock_);
    take_done(&kept_, &done);
    kept_.push_back(std::move(work));
    keep_spare();
  }

  void tidy() {
    Works done;
    std::lock_guard<std::mutex> held(lock_);
    take_done(&works_, &done);
    take_done(&kept_, &done);
  }

  // By whoever moved a work on, within tutti.
  void tell() {
    std::lock_guard<std::mutex> held(lock_);
    told_ = true;
    changed_.notify_one();
  }

  void stop(std::chrono::steady_clock::time_point until) {
    std::unique_lock<std::mutex> held(lock_);
    stopped_ = true;
    unwatched_.wait_until(held, until, [this] { return in_python_ == 0; });
  }

private:
  void keep_spare() {
    if (watched_ || spare_ > 0)
      return;
    spare_++;
    std::thread([this] { run(); }).detach();
  }

  // Looks at all of them now and then, too: deaths and time limits are found by looking.
  void sleep(std::unique_lock<std::mutex> &held, size_t known) {
    auto something = [&] { return told_ || works_.size() > known; };
    if (works_.empty()) {
      changed_.wait(held, something);
      looked_ = Clock::now();
    } else {
      changed_.wait_for(held, std::chrono::milliseconds(50), something);
    }
  }

  // What may run code of Python, or take its lock. A thread that comes to it when Python ends stays here for ever.
  void begin_python(std::unique_lock<std::mutex> &held) {
    unwatched_.wait(held, [this] { return !stopped_; });
    in_python_++;
    held.unlock();
  }

  void end_python(std::unique_lock<std::mutex> &held) {
    held.lock();
    in_python_--;
    if (stopped_)
      unwatched_.notify_all();
  }

  // The next work whose call ends here.
  c10::intrusive_ptr<Work> watch(std::unique_lock<std::mutex> &held, tutti_status *status) {
    for (looked_ = Clock::now();;) {
      told_ = false;
      auto now = Clock::now(), before = std::exchange(looked_, now);
      Works all, left;
      all.swap(works_);
      all.insert(all.end(), kept_.begin(), kept_.end());
      kept_.clear();
      c10::intrusive_ptr<Work> ended;
      held.unlock();
      for (auto &work : all) {
        Work::Stage stage = ended ? Work::RUNS : work->try_end(status, stop_in(now - before));
        if (stage == Work::ENDS)
          ended = work;
        else if (stage == Work::RUNS)
          left.push_back(work);
      }
      size_t known = left.size();
      held.lock();
      left.insert(left.end(), works_.begin(), works_.end());
      works_.swap(left);
      begin_python(held); // tensors of works that others have waited for may belong to it
      all.clear();
      left.clear();
      end_python(held);
      if (ended)
        return ended;
      sleep(held, known);
    }
  }

  void run() {
    std::unique_lock<std::mutex> held(lock_);
    for (;;) {
      unwatched_.wait(held, [this] { return !watched_ && !stopped_; });
      spare_--;
      watched_ = true;
      tutti_status status = TUTTI_OK;
      auto work = watch(held, &status);
      watched_ = false;
      keep_spare();
      unwatched_.notify_one();
      begin_python(held);
      work->complete(status);
      work.reset();
      end_python(held);
      spare_++;
    }
  }

  std::mutex lock_;
  std::condition_variable changed_, unwatched_;
  Works works_, kept_; // those it looks at, and those it does once it is told
  Clock::time_point looked_; // when; by who has the watch
  int spare_ = 0, in_python_ = 0; // threads that wait for the watch, and that run callbacks
  bool watched_ = false, told_ = false, stopped_ = false;
};

void stop_completing(std::chrono::steady_clock::time_point until) { Completer::get().stop(until); }

void tidy_completing() { Completer::get().tidy(); }

// ---- works ----

Work::Work(std::shared_ptr<Comm> comm, int rank, c10d::OpType op, const char *title,
           const std::vector<at::Tensor> &inputs, std::vector<at::Tensor> outputs, std::chrono::milliseconds timeout)
    : c10d::Work(rank, op, title, inputs), begun(std::chrono::steady_clock::now()), comm_(std::move(comm)),
      outputs_(std::move(outputs)), timeout_(timeout) {}

Work::~Work() = default;

// As the call itself writes to tensors: to parameters, and to inference tensors on any thread, unseen by autograd.
std::exception_ptr Work::bring_results() {
  at::AutoDispatchBelowADInplaceOrView guard;
  try {
    if (after)
      after();
    return nullptr;
  } catch (const std::exception &) {
    return std::current_exception();
  }
}

void Work::complete(tutti_status status) {
  std::exception_ptr error = status == TUTTI_OK ? bring_results() : make_error(status, error_text);
  after = nullptr;
  held.clear();
  c10::intrusive_ptr<c10::ivalue::Future> future;
  {
    std::lock_guard<std::mutex> guard(future_lock_);
    finish(error);
    done_.store(true, std::memory_order_release);
    future = future_;
  }
  if (!future)
    return;
  if (error)
    future->setError(error);
  else
    future->markCompleted(c10::IValue(outputs_));
}

// The communicator is broken: the others end at once, too. The error stays that of the first.
void Work::give_up(tutti_status status) {
  error_text = tutti_last_error();
  bool broken = status != TUTTI_ERR_REFUSED && status != TUTTI_ERR_ARGUMENT && status != TUTTI_ERR_PLAN;
  if (broken && callbacks && is_on_comm()) // a message's communicator is that of two ranks
    comm_->break_twin(error_text.c_str());
  for (auto &request : requests)
    if (request)
      tutti_wait(&request);
}

bool Work::step(bool late, tutti_status *status) {
  *status = TUTTI_OK;
  for (auto &request : requests) {
    int done = 1;
    if (*status == TUTTI_OK)
      *status = late ? tutti_wait_for(&request, 1) : tutti_test(&request, &done);
    if (!done)
      return false;
  }
  if (*status != TUTTI_OK)
    give_up(*status);
  return true;
}

tutti_status Work::wait_for(std::chrono::milliseconds limit) {
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < requests.size() && status == TUTTI_OK; n++)
    status = tutti_wait_for(&requests[n], std::max<int64_t>(std::chrono::nanoseconds(limit).count(), 1));
  if (status != TUTTI_OK)
    give_up(status);
  return status;
}

void pause(int looks) {
  if (looks < 200)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void Work::told(void *) { Completer::get().tell(); }

// stopped: of the time behind the last look.
Work::Stage Work::try_end(tutti_status *status, Clock::duration stopped) {
  if (done_.load(std::memory_order_acquire))
    return ENDED;
  if (waits_here())
    return RUNS;
  std::unique_lock<std::mutex> guard(collecting_, std::try_to_lock);
  if (!guard)
    return RUNS;
  if (ended_)
    return ENDED;
  auto now = Clock::now();
  begun = std::min(begun + stopped, now); // it may have begun since
  if (!step(has_limit() && now - begun > timeout_, status))
    return RUNS;
  ended_ = true;
  return ENDS;
}

bool Work::look() {
  tutti_status status;
  if (!has_future_.load(std::memory_order_acquire) && try_end(&status) == ENDS) {
    complete(status);
    if (status != TUTTI_OK)
      raise_python_error_later();
  }
  return done_.load(std::memory_order_acquire);
}

void Work::tell_when_complete() {
  for (auto request : requests)
    if (request)
      tutti_request_notify(request, told, this);
}

bool Work::isCompleted() {
  WithoutGil without;
  return look();
}

bool Work::isSuccess() const { return done_.load(std::memory_order_acquire) && !c10d::Work::exception(); }

std::exception_ptr Work::exception() const { return c10d::Work::exception(); }

std::vector<at::Tensor> Work::result() { return outputs_; }

tutti_status Work::wait_here(std::chrono::milliseconds limit) {
  struct Mark {
    std::atomic<std::thread::id> &by;
    ~Mark() { by = std::thread::id(); }
  } mark{waiting_};
  mark.by = std::this_thread::get_id();
  return wait_for(limit);
}

void Work::end_within(std::chrono::milliseconds limit) {
  if (is_done())
    return;
  std::unique_lock<std::mutex> guard(collecting_);
  if (!ended_) {
    tutti_status status = wait_here(limit);
    ended_ = true;
    guard.unlock();
    complete(status);
    return;
  }
  guard.unlock(); // another thread completes it just now
  while (!is_done())
    std::this_thread::yield();
}

// The call goes on where that is over, as with gloo: only the group's limit gives it up.
void Work::watch(std::chrono::milliseconds limit) {
  auto end = std::chrono::steady_clock::now() + limit;
  for (int looks = 0; !look(); looks++) {
    TORCH_CHECK(std::chrono::steady_clock::now() < end, "tutti: Operation timed out! It is not complete after ",
                limit.count(), " ms, and goes on");
    pause(looks);
    if (looks % 200 == 199 && was_interrupted())
      fail(TUTTI_ERR_ABORTED);
  }
}

bool Work::wait(std::chrono::milliseconds timeout) {
  TORCH_CHECK(!waits_here(), "tutti: a handler of a signal cannot wait for a work while another wait for it goes on");
  if (timeout > kNoTimeout)
    watch(as_limit(timeout));
  else
    end_within(timeout_);
  if (auto error = c10d::Work::exception()) {
    auto python = take_python_error(); // of this wait; others get the work's own
    std::rethrow_exception(python ? python : error);
  }
  return true;
}

// The others are told, rather than that a call has reached a limit that nobody has set. A message is one rank's only.
void Work::end_by(std::chrono::steady_clock::time_point until) {
  while (!look() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (is_done())
    return;
  if (retrieveOpType() != c10d::OpType::SEND)
    tutti_comm_abort(comm_->comm, "its process ends, with calls under way");
  end_within(std::chrono::milliseconds(1));
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() {
  WithoutGil without;
  {
    std::lock_guard<std::mutex> guard(future_lock_);
    if (future_)
      return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    has_future_ = true;
    if (done_.load(std::memory_order_relaxed)) {
      if (auto error = c10d::Work::exception())
        future_->setError(error);
      else
        future_->markCompleted(c10::IValue(outputs_));
      return future_;
    }
  }
  complete_in_time();
  return future_;
}

void Work::complete_in_time() {
  {
    std::unique_lock<std::mutex> guard(collecting_, std::try_to_lock);
    if (guard && !ended_) // else somebody waits for it
      tell_when_complete();
  }
  Completer::get().add(c10::intrusive_ptr<Work>::unsafe_reclaim_from_nonowning(this));
}

void Work::move_when_told() { Completer::get().keep(c10::intrusive_ptr<Work>::unsafe_reclaim_from_nonowning(this)); }

} // namespace tutti_torch
