// bindings/python/torch/work.cpp - see work.hpp.
#include "work.hpp"

#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <unistd.h>

namespace tutti_torch {

// ---- the thread that completes works with futures ----

// Never destroyed: works may outlive whatever runs at exit.
class Completer {
public:
  static Completer &get() {
    static auto *one = new Completer;
    return *one;
  }

  void add(c10::intrusive_ptr<Work> work) {
    std::lock_guard<std::mutex> held(lock_);
    if (!started_) {
      started_ = true;
      std::thread([this] { run(); }).detach();
    }
    works_.push_back(std::move(work));
    changed_.notify_one();
  }

  // By whoever moved a work on, within tutti.
  void tell() {
    std::lock_guard<std::mutex> held(lock_);
    told_ = true;
    changed_.notify_one();
  }

private:
  // A message tells nobody when it comes.
  static bool all_tell(const std::deque<c10::intrusive_ptr<Work>> &works) {
    return std::all_of(works.begin(), works.end(), [](const auto &work) { return !work->requests.empty(); });
  }

  // Looks at all of them now and then, too: deaths and time limits are found by looking.
  void run() {
    std::deque<c10::intrusive_ptr<Work>> mine;
    for (;;) {
      {
        std::unique_lock<std::mutex> held(lock_);
        auto something = [&] { return told_ || !works_.empty(); };
        if (mine.empty())
          changed_.wait(held, something);
        else
          changed_.wait_for(held, std::chrono::milliseconds(all_tell(mine) ? 50 : 1), something);
        told_ = false;
        mine.insert(mine.end(), works_.begin(), works_.end());
        works_.clear();
      }
      std::deque<c10::intrusive_ptr<Work>> left;
      for (auto &work : mine)
        if (!work->look())
          left.push_back(work);
      mine.swap(left);
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<c10::intrusive_ptr<Work>> works_;
  bool started_ = false, told_ = false;
};

// ---- works ----

Work::Work(std::shared_ptr<Comm> comm, int rank, c10d::OpType op, const char *title,
           const std::vector<at::Tensor> &inputs, std::vector<at::Tensor> outputs, std::chrono::milliseconds timeout)
    : c10d::Work(rank, op, title, inputs), begun(std::chrono::steady_clock::now()), comm_(std::move(comm)),
      outputs_(std::move(outputs)), timeout_(timeout) {}

Work::~Work() = default;

void Work::complete(tutti_status status) {
  std::exception_ptr error;
  if (status != TUTTI_OK)
    error = make_error(status, error_text);
  else if (after)
    after();
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
void Work::give_up() {
  error_text = tutti_last_error();
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
    give_up();
  return true;
}

tutti_status Work::wait_for(std::chrono::milliseconds limit) {
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < requests.size() && status == TUTTI_OK; n++)
    status = tutti_wait_for(&requests[n], std::chrono::nanoseconds(limit).count());
  if (status != TUTTI_OK)
    give_up();
  return status;
}

void Work::told(void *) { Completer::get().tell(); }

bool Work::look() {
  if (done_.load(std::memory_order_acquire))
    return true;
  std::unique_lock<std::mutex> guard(collecting_, std::try_to_lock);
  if (!guard || ended_)
    return done_.load(std::memory_order_acquire);
  tutti_status status;
  if (!step(std::chrono::steady_clock::now() - begun > timeout_, &status))
    return false;
  ended_ = true;
  guard.unlock();
  complete(status);
  return true;
}

bool Work::isCompleted() { return look(); }

bool Work::isSuccess() const { return done_.load(std::memory_order_acquire) && !c10d::Work::exception(); }

std::exception_ptr Work::exception() const { return c10d::Work::exception(); }

std::vector<at::Tensor> Work::result() { return outputs_; }

bool Work::wait(std::chrono::milliseconds timeout) {
  if (!done_.load(std::memory_order_acquire)) {
    std::unique_lock<std::mutex> guard(collecting_);
    if (!ended_) {
      auto limit = timeout > kNoTimeout ? timeout : timeout_;
      tutti_status status = wait_for(limit);
      ended_ = true;
      guard.unlock();
      complete(status);
    } else {
      guard.unlock(); // another thread completes it just now
      while (!done_.load(std::memory_order_acquire))
        std::this_thread::yield();
    }
  }
  if (auto error = c10d::Work::exception())
    std::rethrow_exception(error);
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() {
  {
    std::lock_guard<std::mutex> guard(future_lock_);
    if (future_)
      return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    if (done_.load(std::memory_order_relaxed)) {
      if (auto error = c10d::Work::exception())
        future_->setError(error);
      else
        future_->markCompleted(c10::IValue(outputs_));
      return future_;
    }
  }
  {
    std::unique_lock<std::mutex> guard(collecting_, std::try_to_lock);
    if (guard && !ended_) // else somebody waits for it
      for (auto request : requests)
        if (request)
          tutti_request_notify(request, told, this);
  }
  Completer::get().add(c10::intrusive_ptr<Work>::unsafe_reclaim_from_nonowning(this));
  return future_;
}

// ---- those that run ----

void Running::add(c10::intrusive_ptr<Work> work) {
  std::lock_guard<std::mutex> held(lock_);
  works_.push_back(std::move(work));
}

void Running::sweep() {
  std::deque<c10::intrusive_ptr<Work>> gone; // let go of without the lock: tensors may belong to Python
  {
    std::lock_guard<std::mutex> held(lock_);
    while (!works_.empty() && works_.front()->look()) {
      gone.push_back(std::move(works_.front()));
      works_.pop_front();
    }
  }
}

void Running::drain() {
  for (;;) {
    c10::intrusive_ptr<Work> work;
    {
      std::lock_guard<std::mutex> held(lock_);
      if (works_.empty())
        return;
      work = std::move(works_.front());
      works_.pop_front();
    }
    if (work->requests.empty())
      continue;
    try {
      work->wait();
    } catch (const std::exception &) { // it is for who waits for it
    }
  }
}

} // namespace tutti_torch
