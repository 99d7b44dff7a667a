#include "engine/plan/time/simulate.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ringmaster {

namespace {

using Seconds = std::vector<double>;  // one value per column

constexpr double kRounding = 1e-9;

enum class Pass { Forward, Again, Backward };

const char* name_of(Pass pass) {
    return pass == Pass::Forward ? "forward" : pass == Pass::Again ? "recomputed" : "backward";
}

/// An activity in a layer's pass. Its times count from the start of the pass.
struct Block {
    int column;
    Lane lane;
    double begin_s, end_s;
    const char* what;
    int first_hop, last_hop;  // −1 if the activity belongs to no hop
};

/// Simulates one pass of one layer on all columns, which start it together.
class LayerPass {
  public:
    LayerPass(const StepCosts& costs, Pass pass, bool records)
        : costs_(costs),
          records_(records),
          columns_(costs.columns.size()),
          clock_(columns_),
          compute_(columns_),
          in_flight_(columns_),
          in_flight_until_(columns_),
          in_free_(columns_),
          out_free_(columns_),
          busy_(columns_) {
        pass == Pass::Backward ? play_backward() : play_forward(pass == Pass::Again);
        length_ = *std::max_element(clock_.begin(), clock_.end());
    }

    double length() const { return length_; }
    double computed(size_t column) const { return compute_[column]; }
    /// Returns the seconds in which a column has messages in flight, plus its final wait for slower ranks,
    /// whose messages are late.
    double in_flight(size_t column) const { return in_flight_[column] + length_ - clock_[column]; }
    /// Returns the seconds that the busiest link transfers keys.
    double link_busy() const { return *std::max_element(busy_.begin(), busy_.end()); }
    const std::vector<Block>& blocks() const { return blocks_; }

  private:
    const ColumnCosts& at(size_t column) const { return costs_.columns[column]; }
    size_t hops() const { return costs_.columns.front().hops.size(); }
    size_t from(size_t column, size_t hop) const { return (column + columns_ - hop) % columns_; }

    void record(size_t column, Lane lane, double begin, double end, const char* what,
                const HopCosts* hop = nullptr) {
        if (records_ && end > begin)
            blocks_.push_back({static_cast<int>(column), lane, begin, end, what, hop ? hop->first : -1,
                               hop ? hop->last : -1});
    }

    template <typename CostOf>
    void compute_all(const char* what, CostOf cost_of) {
        for (size_t c = 0; c < columns_; ++c) compute(c, clock_[c], cost_of(at(c)), what, nullptr);
    }
    void compute(size_t column, double begin, double seconds, const char* what, const HopCosts* hop) {
        record(column, Lane::Compute, begin, begin + seconds, what, hop);
        compute_[column] += seconds;
        clock_[column] = begin + seconds;
    }
    void all_to_all(const char* what, double ColumnCosts::*cost) {
        for (size_t c = 0; c < columns_; ++c) {
            fly(c, clock_[c], clock_[c], clock_[c] + at(c).*cost, what, nullptr);
            clock_[c] += at(c).*cost;
        }
    }

    /// Marks the column's link as busy from `begin` to `end` with a message that was posted at `posted`.
    void fly(size_t column, double posted, double begin, double end, const char* what, const HopCosts* hop) {
        record(column, Lane::KeysLink, begin, end, what, hop);
        in_flight_[column] += std::max(0.0, end - std::max(posted, in_flight_until_[column]));
        in_flight_until_[column] = std::max(in_flight_until_[column], end);
        busy_[column] += end - begin;
    }

    /// Simulates a message that two columns post at their times in `posts`. Returns the time at which it
    /// arrives.
    double carry(size_t sender, size_t receiver, const Seconds& posts, double seconds, const char* what,
                 const HopCosts* hop) {
        const double begin =
            std::max({posts[sender], posts[receiver], out_free_[sender], in_free_[receiver]});
        const double end = begin + seconds;
        out_free_[sender] = in_free_[receiver] = end;
        fly(receiver, posts[receiver], begin, end, what, hop);
        in_flight_[sender] += std::max(0.0, end - std::max(posts[sender], in_flight_until_[sender]));
        in_flight_until_[sender] = std::max(in_flight_until_[sender], end);
        return end;
    }

    /// Returns when each column has sent and received all messages of this hop.
    Seconds exchange(size_t hop, const Seconds& posts, double HopCosts::*cost, bool home, const char* what) {
        Seconds done = posts;
        if (costs_.gathers_keys) {
            const double all_posted = *std::max_element(posts.begin(), posts.end());
            for (size_t c = 0; c < columns_; ++c) {
                const HopCosts& costs = at(c).hops[hop];
                const double begin = std::max(all_posted, in_free_[c]);
                done[c] = in_free_[c] = begin + costs.*cost;
                fly(c, posts[c], begin, done[c], what, &costs);
            }
            return done;
        }
        if (hop == 0) return done;
        for (size_t c = 0; c < columns_; ++c) {  // keys travel to column c, and their gradients from column c
            const HopCosts& costs = at(c).hops[hop];
            if (costs.*cost <= 0) continue;
            const size_t owner = from(c, hop);
            const double end = home ? carry(c, owner, posts, costs.*cost, what, &costs)
                                    : carry(owner, c, posts, costs.*cost, what, &costs);
            done[c] = std::max(done[c], end);
            done[owner] = std::max(done[owner], end);
        }
        return done;
    }

    void wait_for(const Seconds& done) {
        for (size_t c = 0; c < columns_; ++c) clock_[c] = std::max(clock_[c], done[c]);
    }

    void play_forward(bool again) {
        compute_all("projections", [again](const ColumnCosts& c) {
            return c.projections_s + c.int8_projections_s + (again ? c.recalled_s : 0);
        });
        if (!again || !costs_.keeps_attention) attention_forward();
        compute_all("output and MLP", [again](const ColumnCosts& c) {
            return c.output_s + c.int8_rest_s + (again ? c.mlp_again_s : c.mlp_s + c.int8_tiles_s);
        });
        all_to_all("tokens of experts",
                   again ? &ColumnCosts::experts_again_s : &ColumnCosts::experts_forward_s);
    }

    void attention_forward() {
        all_to_all("queries, keys and values by heads", &ColumnCosts::exchange_in_s);
        Seconds here = exchange(0, clock_, &HopCosts::keys_s, false, "keys and values");
        for (size_t hop = 0; hop < hops(); ++hop) {
            wait_for(here);
            if (hop + 1 < hops())
                here = exchange(hop + 1, clock_, &HopCosts::keys_s, false, "keys and values");
            for (size_t c = 0; c < columns_; ++c)
                compute(c, clock_[c], at(c).hops[hop].forward_s, "", &at(c).hops[hop]);
        }
        all_to_all("output by tokens", &ColumnCosts::exchange_out_s);
    }

    void play_backward() {
        // With checkpointing, tiles count as recomputation.
        const bool tiles = costs_.tiles_mlp && !costs_.checkpointing;
        const double products = costs_.backward_products;
        compute_all("MLP and output", [tiles, products](const ColumnCosts& c) {
            return products * (c.mlp_s + c.output_s) + (tiles ? c.mlp_again_s : 0);
        });
        all_to_all("gradients of experts' tokens", &ColumnCosts::experts_back_s);
        all_to_all("the output's gradient by heads", &ColumnCosts::exchange_back_in_s);
        const size_t units = hops() + (costs_.splits_own ? 1 : 0);
        Seconds here = exchange(0, clock_, &HopCosts::keys_s, false, "keys and values");
        Seconds home = clock_;
        for (size_t unit = 0; unit < units; ++unit) {
            const bool is_last_half = unit == hops();
            const size_t hop = is_last_half ? 0 : unit;
            const double part = costs_.splits_own && hop == 0 ? 0.5 : 1;
            wait_for(here);
            if (unit + 1 < hops())
                here = exchange(unit + 1, clock_, &HopCosts::keys_s, false, "keys and values");
            for (size_t c = 0; c < columns_; ++c)
                compute(c, clock_[c], part * at(c).hops[hop].backward_s, "", &at(c).hops[hop]);
            if (hop == 0 && !costs_.gathers_keys) continue;
            wait_for(home);
            home = exchange(hop, clock_, &HopCosts::gradients_s, true, "gradients of keys and values");
        }
        wait_for(home);
        all_to_all("gradients by tokens", &ColumnCosts::exchange_back_out_s);
        compute_all("projections", [products](const ColumnCosts& c) { return products * c.projections_s; });
    }

    const StepCosts& costs_;
    const bool records_;
    const size_t columns_;
    Seconds clock_, compute_, in_flight_, in_flight_until_, in_free_, out_free_, busy_;
    double length_ = 0;
    std::vector<Block> blocks_;
};

/// Simulates a link other than the keys' link. Transfers run one after the other, in the order in which they
/// start.
class SideLink {
  public:
    /// `share` is the link's free capacity while a layer computes.
    SideLink(Lane lane, double share, const std::function<void(const TimelineSpan&)>& on_span)
        : lane_(lane), share_(share), on_span_(on_span) {}

    double send(double now, double seconds, const std::string& name) {
        const double begin = std::max(now, free_);
        free_ = begin + seconds / share_;
        carried_ += seconds;
        if (on_span_ && seconds > 0) spans_.push_back({lane_, begin, free_, name});
        return free_;
    }
    /// Finishes the remaining transfers at full speed, because no layer computes any more. Returns the time
    /// of the end.
    double drain(double now) {
        const auto hurried = [&](double time) { return time > now ? now + (time - now) * share_ : time; };
        free_ = hurried(free_);
        for (TimelineSpan& span : spans_) {
            span.begin_s = hurried(span.begin_s);
            span.end_s = hurried(span.end_s);
            on_span_(span);
        }
        spans_.clear();
        return std::max(now, free_);
    }
    double carried_s() const { return carried_; }

  private:
    Lane lane_;
    double share_, free_ = 0, carried_ = 0;
    const std::function<void(const TimelineSpan&)>& on_span_;
    std::vector<TimelineSpan> spans_;
};

class Step {
  public:
    Step(const StepCosts& costs, const OnSpan& on_span)
        : costs_(costs),
          on_span_(on_span),
          forward_(costs, Pass::Forward, bool(on_span)),
          backward_(costs, Pass::Backward, bool(on_span)) {
        if (costs.checkpointing) again_.emplace(costs, Pass::Again, bool(on_span));
        if (on_span_)
            on_side_link_ = [this](const TimelineSpan& span) {
                for (size_t c = 0; c < costs_.columns.size(); ++c) on_span_(static_cast<int>(c), span);
            };
    }

    SimulatedStep play() {
        const double between = costs_.micro_batches > 1 ? micro_batch(0, false) : 0;
        const double before = on_span_ ? between : double(costs_.micro_batches - 1) * between;
        double now = micro_batch(before, true);
        if (on_span_) all_compute(now, costs_.update_s, "update");
        now += costs_.update_s;
        if (costs_.new_weights_s > 0 && on_side_link_)
            on_side_link_({Lane::StatesLink, now, now + costs_.new_weights_s, "new weights"});
        now += costs_.new_weights_s;
        if (on_span_) now += double(costs_.micro_batches - 1) * between - before;
        return summed(now);
    }

  private:
    std::string layer_name(int64_t layer) const { return "layer " + std::to_string(layer); }

    void all_compute(double begin, double seconds, const std::string& name) {
        for (size_t c = 0; c < costs_.columns.size(); ++c)
            on_span_(static_cast<int>(c), {Lane::Compute, begin, begin + seconds, name});
    }

    /// Simulates a pass of a layer; returns the time at which it ends.
    double pass(double now, const LayerPass& layer_pass, Pass kind, int64_t layer) {
        for (const Block& block : layer_pass.blocks()) {
            std::string name = layer_name(layer);
            if (block.first_hop >= 0 && block.first_hop == block.last_hop)
                name += " hop " + std::to_string(block.first_hop);
            if (block.first_hop != block.last_hop)
                name += " hops " + std::to_string(block.first_hop) + "–" + std::to_string(block.last_hop);
            if (*block.what != '\0') name += std::string(" ") + block.what;
            on_span_(block.column,
                     {block.lane, now + block.begin_s, now + block.end_s, name + " " + name_of(kind)});
        }
        return now + layer_pass.length();
    }

    double share_left(double length, double busy) const {
        constexpr double kLeast = 0.02;
        return costs_.shares_link && length > 0 ? std::max(kLeast, 1 - busy / length) : 1;
    }

    /// Brings a unit's weights from host memory, and gathers them; returns the time at which they have
    /// arrived.
    double bring(double now, SideLink& link, SideLink& host, const UnitCosts& unit, const std::string& name) {
        if (unit.fetch_s > 0) now = host.send(now, unit.fetch_s, name + " comes from the host");
        return costs_.stage == 3 ? link.send(now, unit.gather_s, name + " gathered") : now;
    }

    double forward(double now, SideLink& host, bool keeps) {
        SideLink link(Lane::StatesLink, share_left(forward_.length(), forward_.link_busy()), on_side_link_);
        now = bring(now, link, host, costs_.embedding, "embedding");
        double ready = bring(now, link, host, costs_.layer, layer_name(0));
        for (int64_t layer = 0; layer < costs_.layers; ++layer) {
            now = std::max(now, ready);
            const bool is_last = layer + 1 == costs_.layers;
            ready = bring(now, link, host, is_last ? costs_.head : costs_.layer,
                          is_last ? "head" : layer_name(layer + 1));
            const double begin = now;
            now = pass(now, forward_, Pass::Forward, layer);
            if (costs_.chunks_forward_s > 0)
                now = std::max(now, host.send(begin, costs_.chunks_forward_s, layer_name(layer) + " chunks"));
            if (keeps) host.send(now, costs_.checkpoint_copy_s, layer_name(layer) + " checkpoint leaves");
        }
        states_s_ += link.carried_s();
        if (costs_.head.fetch_s > 0) now = std::max(now, ready);
        return costs_.stage == 3 ? std::max(now, link.drain(now)) : now;
    }

    /// Sends a unit's final gradients. If gradients are sharded, only one reduction may still be in flight
    /// when the next begins.
    double reduce(double now, SideLink& link, const UnitCosts& unit, const std::string& name, bool last) {
        const bool goes = last || costs_.stage >= 2 || unit.leave_s > 0;
        if (!goes || unit.reduce_s <= 0) return now;
        const double waits_for = pending_;
        pending_ = link.send(now, unit.reduce_s, "gradients of " + name);
        if (last && unit.replicas_s > 0)
            link.send(pending_, unit.replicas_s, "gradients of " + name + " over replicas");
        return costs_.stage > 0 ? std::max(now, waits_for) : now;
    }

    /// Reduces a unit's final gradients and copies them to host memory, at most two units at a time.
    double send_off(double now, SideLink& link, SideLink& host, const UnitCosts& unit,
                    const std::string& name, bool last) {
        now = reduce(now, link, unit, name, last);
        if (unit.leave_s <= 0) return now;
        const double reduced = unit.reduce_s > 0 ? std::max(now, pending_) : now;
        const double waits_for = std::exchange(leaving_, left_);
        left_ = host.send(reduced, unit.leave_s, "gradients of " + name + " leave");
        return std::max(now, waits_for);
    }

    double backward(double now, bool last, SideLink& host) {
        const double again_s = again_ ? again_->length() : 0;
        const double busy = backward_.link_busy() + (again_ ? again_->link_busy() : 0);
        SideLink link(Lane::StatesLink, share_left(backward_.length() + again_s, busy), on_side_link_);
        double ready = now;
        pending_ = leaving_ = left_ = 0;
        now = send_off(now, link, host, costs_.head, "head", last);
        const auto bring_back = [&](int64_t layer) {
            return host.send(now, costs_.checkpoint_copy_s, layer_name(layer) + " checkpoint comes back");
        };
        double here = bring_back(costs_.layers - 1);
        for (int64_t layer = costs_.layers - 1; layer >= 0; --layer) {
            now = std::max({now, ready, here});
            if (layer > 0) here = bring_back(layer - 1);
            if (layer > 0) ready = bring(now, link, host, costs_.layer, layer_name(layer - 1));
            const double begin = now;
            if (again_) now = pass(now, *again_, Pass::Again, layer);
            now = pass(now, backward_, Pass::Backward, layer);
            if (costs_.chunks_backward_s > 0)
                now =
                    std::max(now, host.send(begin, costs_.chunks_backward_s, layer_name(layer) + " chunks"));
            now = send_off(now, link, host, costs_.layer, layer_name(layer), last);
        }
        now = send_off(now, link, host, costs_.embedding, "embedding", last);
        states_s_ += link.carried_s();
        return link.drain(now);
    }

    double head_forward_s(const ColumnCosts& column) const {
        return column.head_s / (1 + costs_.backward_products);
    }

    /// Simulates a forward pass that keeps nothing.
    double forward_alone(double now) {
        SideLink nothing(Lane::HostLink, 1, {});
        now = forward(now, nothing, false);
        double head_s = 0;
        for (const ColumnCosts& column : costs_.columns) head_s = std::max(head_s, head_forward_s(column));
        if (on_span_) all_compute(now, head_s, "log-probabilities");
        return now + head_s;
    }

    double micro_batch(double now, bool last) {
        const double counted = states_s_;
        SideLink host(Lane::HostLink, 1, on_side_link_);
        for (int64_t i = 0; i < costs_.forwards_alone; ++i) now = forward_alone(now);
        now = forward(now, host, true);
        double head_s = 0;
        for (const ColumnCosts& column : costs_.columns) head_s = std::max(head_s, column.head_s);
        if (on_span_) all_compute(now, head_s, "head forward and backward");
        now = backward(now + head_s, last, host);
        now = host.drain(now);
        if (!last) states_s_ = counted + double(costs_.micro_batches - 1) * (states_s_ - counted);
        return now;
    }

    SimulatedStep summed(double step_s) const {
        SimulatedStep step;
        const auto layers = double(costs_.layers), times = double(costs_.micro_batches);
        const auto alone = double(costs_.forwards_alone);
        for (size_t c = 0; c < costs_.columns.size(); ++c) {
            const auto of_passes = [&](auto of) {
                return layers * ((1 + alone) * of(forward_) + of(backward_) + (again_ ? of(*again_) : 0));
            };
            RankTime rank;
            rank.ring_rank = costs_.columns[c].ring_rank;
            rank.compute_s = times * (of_passes([c](const LayerPass& p) { return p.computed(c); }) +
                                      costs_.columns[c].head_s + alone * head_forward_s(costs_.columns[c])) +
                             costs_.update_s;
            rank.exposed_s = step_s - rank.compute_s;
            if (rank.exposed_s < kRounding * step_s) rank.exposed_s = 0;
            rank.comm_s = times * of_passes([c](const LayerPass& p) { return p.in_flight(c); }) + states_s_ +
                          costs_.new_weights_s;
            rank.comm_s = std::clamp(rank.comm_s, rank.exposed_s, step_s);
            step.ranks.push_back(rank);
        }
        const RankTime& slowest =
            *std::max_element(step.ranks.begin(), step.ranks.end(),
                              [](const RankTime& a, const RankTime& b) { return a.compute_s < b.compute_s; });
        step.time.compute_s = slowest.compute_s;
        step.time.exposed_comm_s = slowest.exposed_s;
        step.time.comm_s = slowest.comm_s;
        step.time.step_s = slowest.compute_s + slowest.exposed_s;
        return step;
    }

    const StepCosts& costs_;
    const OnSpan& on_span_;
    std::function<void(const TimelineSpan&)> on_side_link_;
    LayerPass forward_, backward_;
    std::optional<LayerPass> again_;  // set under checkpointing
    double pending_ = 0, states_s_ = 0;
    double leaving_ = 0, left_ = 0;  ///< times at which the last two units' gradients reach host memory
};

}  // namespace

SimulatedStep simulate_step(const StepCosts& costs) {
    const OnSpan nobody;
    return Step(costs, nobody).play();
}

SimulatedStep simulate_step(const StepCosts& costs, const OnSpan& on_span) {
    return Step(costs, on_span).play();
}

}  // namespace ringmaster
