// bindings/python/torch/p2p.cpp - see p2p.hpp.
#include "p2p.hpp"

#include <cstring>
#include <sstream>
#include <utility>

namespace tutti_torch {

namespace {

constexpr int64_t FIRST_MESSAGES = int64_t(1) << 31; // those of groups are lower

thread_local const Channel *advancing = nullptr; // by this thread

} // namespace

// ---- channels ----

Channel::Channel(tutti_context *context, int64_t from, int64_t to) {
  int64_t ranks[] = {from, to};
  int64_t number = FIRST_MESSAGES + from * tutti_context_size(context) + to;
  tutti_status status = tutti_comm_create_group(context, number, 2, ranks, &comm);
  if (status != TUTTI_OK)
    fail(status);
}

Channel::~Channel() {
  WithoutGil without;
  tutti_comm_destroy(comm);
  tutti_wait(&request_); // that is over
}

std::shared_ptr<Channels> Channels::of(Job &job) {
  static std::mutex lock;
  std::lock_guard<std::mutex> held(lock);
  if (!job.channels)
    job.channels = std::shared_ptr<Channels>(new Channels(job.context));
  return std::static_pointer_cast<Channels>(job.channels);
}

std::shared_ptr<Channel> Channels::get(int64_t from, int64_t to) {
  std::lock_guard<std::mutex> held(lock_);
  auto &channel = made_[{from, to}];
  if (!channel)
    channel = std::make_shared<Channel>(context_, from, to);
  return channel;
}

// ---- receiving ----

c10::intrusive_ptr<RecvWork> Channel::find_wanting(const Header &header) {
  for (auto at = wanting_.begin(); at != wanting_.end();) {
    auto work = *at;
    if (work->claimed.load()) { // by a message from elsewhere
      at = wanting_.erase(at);
      continue;
    }
    if (work->wanted.group == header.group && work->wanted.tag == header.tag && !work->claimed.exchange(true)) {
      wanting_.erase(at);
      for (size_t n = 0; n < work->channels.size(); n++)
        if (work->channels[n].get() == this)
          work->source.store(work->ranks[n]);
      return work;
    }
    ++at;
  }
  return {};
}

static bool fits(RecvWork &work, const Header &header) {
  if (work.wanted.bytes == header.bytes)
    return true;
  work.status = TUTTI_ERR_MISMATCH;
  work.problem = "recv of " + std::to_string(work.wanted.bytes) + " bytes with tag " + std::to_string(header.tag) +
                 ": rank " + std::to_string(work.source.load()) + " has sent " + std::to_string(header.bytes);
  return false;
}

// Whatever the channel is in the middle of: what comes next must not overtake a message that is here.
void Channel::deliver_kept() {
  for (auto at = kept_.begin(); at != kept_.end();) {
    auto work = find_wanting(at->header);
    if (!work) {
      ++at;
      continue;
    }
    if (fits(*work, at->header))
      std::memcpy(work->data, at->data.data(), at->data.size());
    work->arrive();
    at = kept_.erase(at);
  }
}

// By messages from elsewhere, or with their groups, while nothing comes here.
void Channel::drop_claimed() {
  wanting_.remove_if([](const c10::intrusive_ptr<RecvWork> &work) { return work->claimed.load(); });
}

// The header is here. What does not fit is taken all the same, so that the next one can come.
void Channel::begin_data() {
  to_ = find_wanting(header_);
  char *into;
  if (to_ && fits(*to_, header_)) {
    into = to_->data;
  } else {
    try {
      keeps_ = {header_, std::vector<char>(size_t(header_.bytes))};
    } catch (const std::exception &) { // whose start then fails
      tutti_comm_abort(comm, "there is no memory for a message that no recv takes");
    }
    into = keeps_.data.data();
  }
  begin(into, header_.bytes, AWAITS_DATA);
}

void Channel::begin(void *into, int64_t bytes, State next) {
  state_ = next;
  tutti_status status = tutti_broadcast_start(into, into, bytes, TUTTI_BYTE, 0, comm, &request_);
  if (status != TUTTI_OK)
    end(status);
  else
    tutti_request_notify(request_, told, this);
}

void Channel::told(void *user) {
  auto *channel = static_cast<Channel *>(user);
  if (channel != advancing && channel->lookers == 0)
    Work::told(nullptr);
}

// All who wait here read the error. A rank that has left after its part is done is none for those who wait for others, too.
void Channel::end(tutti_status status) {
  std::string problem = tutti_last_error();
  bool left = problem.find("left the job") != std::string::npos;
  if (to_)
    to_->arrive_not(status, problem);
  to_.reset();
  state_ = IDLE;
  for (auto &work : wanting_)
    if ((--work->open == 0 || !left) && !work->claimed.exchange(true))
      work->arrive_not(status, problem);
  wanting_.clear();
}

// Whether something has moved.
bool Channel::step() {
  if (state_ == IDLE) {
    deliver_kept();
    drop_claimed();
    if (wanting_.empty())
      return false;
    begin(&header_, sizeof header_, AWAITS_HEADER);
    return true;
  }
  int done = 0;
  tutti_status status = tutti_test(&request_, &done);
  if (status != TUTTI_OK) {
    end(status);
    return false;
  }
  if (!done)
    return false;
  if (state_ == AWAITS_HEADER) {
    begin_data();
    return true;
  }
  if (to_)
    to_->arrive();
  else
    kept_.push_back(std::move(keeps_));
  keeps_ = {};
  to_.reset();
  state_ = IDLE;
  return true;
}

void Channel::advance() {
  std::lock_guard<std::mutex> held(lock);
  drop_claimed();
  advancing = this;
  while (step())
    ;
  advancing = nullptr;
}

void Channel::want(c10::intrusive_ptr<RecvWork> work) {
  {
    std::lock_guard<std::mutex> held(lock);
    drop_claimed();
    wanting_.push_back(std::move(work));
    deliver_kept();
  }
  advance();
}

void Channel::give_up(const RecvWork *work, const std::string &why) {
  std::lock_guard<std::mutex> held(lock);
  if (to_.get() == work)
    tutti_comm_abort(comm, why.c_str());
}

// ---- works ----

void RecvWork::want() {
  open = channels.size();
  move_when_told();
  for (auto &channel : channels)
    channel->want(c10::intrusive_ptr<RecvWork>::unsafe_reclaim_from_nonowning(this));
}

void RecvWork::arrive() {
  arrived = true;
  if (has_future())
    told(nullptr);
}

void RecvWork::arrive_not(tutti_status with, const std::string &why) {
  status = with;
  problem = why;
  arrive();
}

// Channels hold it, and it holds the job, whose they are.
void RecvWork::end_with_group() {
  if (claimed.exchange(true)) { // its message is here, or comes
    end();
    return;
  }
  arrive_not(TUTTI_ERR_ABORTED, "its group was destroyed");
  for (auto &channel : channels)
    channel->advance();
  look();
}

std::string RecvWork::waited() const {
  using std::chrono::milliseconds;
  auto since = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun);
  std::ostringstream text;
  text << "recv with tag " << wanted.tag << " waited " << double(since.count()) / 1000 << " s for a message of ";
  if (ranks.size() == 1)
    text << "rank " << ranks[0];
  else
    text << "any of " << ranks.size() << " ranks";
  return text.str();
}

// Of one that is claimed: nobody writes to the tensor once it has arrived, which it does at once then.
void RecvWork::break_off(const std::string &why) {
  for (auto &channel : channels)
    channel->give_up(this, why);
}

bool RecvWork::step(bool late, tutti_status *result) {
  for (auto &channel : channels)
    if (!arrived.load(std::memory_order_acquire))
      channel->advance();
  if (!arrived.load(std::memory_order_acquire)) {
    if (!late)
      return false;
    if (claimed.exchange(true)) {
      break_off(waited());
      return false;
    }
    problem = waited();
    status = TUTTI_ERR_TIMEOUT;
  }
  if (!problem.empty())
    error_text = problem;
  *result = status;
  return true;
}

bool RecvWork::is_late(std::chrono::milliseconds limit, Clock::time_point *looked) {
  auto now = Clock::now(), before = std::exchange(*looked, now);
  begun += stop_in(now - before);
  return now - begun > limit;
}

// Who is interrupted takes no message any more, and gives up one that has begun to come.
tutti_status RecvWork::look_within(std::chrono::milliseconds limit) {
  tutti_status result = TUTTI_OK;
  bool stops = false;
  auto looked = begun = Clock::now();
  for (int looks = 0; !step(is_late(limit, &looked), &result); looks++) {
    pause(looks);
    stops = stops || (looks % 200 == 199 && was_interrupted());
    if (stops && !claimed.exchange(true))
      break;
    if (stops)
      break_off("recv was interrupted");
  }
  if (stops)
    error_text = "recv was interrupted";
  return stops ? TUTTI_ERR_ABORTED : result;
}

tutti_status RecvWork::wait_for(std::chrono::milliseconds limit) {
  for (auto &channel : channels)
    channel->lookers++;
  tutti_status result = look_within(limit);
  for (auto &channel : channels)
    if (--channel->lookers == 0)
      channel->advance(); // others may want what has come unsaid
  return result;
}

} // namespace tutti_torch
