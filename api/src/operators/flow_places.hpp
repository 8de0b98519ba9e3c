#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/src/operators/flow_window.hpp"
#include "core/dataflow/placement_book.hpp"
#include "troupe/context.hpp"
#include "troupe/operators/tensor.hpp"
#include "troupe/pool.hpp"

namespace troupe::operators {

/// One of the contexts that the nodes of a dataflow run in.
struct flow_place {
  context home;
  pool memory;
};

/// The contexts that the nodes of a dataflow run in, its *places*, and the copies of tensors that
/// they have. A tensor's own memory always tells what it holds: what a node writes elsewhere is copied
/// back right behind it. Copies only spare copies.
///
/// The program may write a tensor itself once all nodes that use it have ended. So a copy counts only
/// while some node that uses it has not, unless the program has promised not to (`promise`).
///
/// One thread at a time. With one place it does nothing.
class flow_places {
public:
  flow_places(std::vector<flow_place> all, flow_lanes& lanes, flow_window& window)
      : all_(std::move(all)), lanes_(lanes), window_(window) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] const flow_place& at(std::size_t index) const { return all_.at(index); }

  /// The place where its own memory lies; nothing for memory of other contexts.
  [[nodiscard]] std::optional<std::size_t> of(const tensor& what) const;

  /// Where a node runs, and its tensors as they lie there.
  struct seat {
    std::size_t place = 0;
    std::optional<std::size_t> lane = {}; ///< if copies have been made for it
    std::span<const tensor> given_reads = {};
    std::span<const tensor> given_writes = {};
    bool moved = false; ///< some lie elsewhere, and these stand for them:
    std::vector<tensor> moved_reads = {};
    std::vector<tensor> moved_writes = {};
    std::vector<placement_book::copy> made = {}; ///< copies made for it

    [[nodiscard]] std::span<const tensor> reads() const {
      return moved ? std::span<const tensor>(moved_reads) : given_reads;
    }
    [[nodiscard]] std::span<const tensor> writes() const {
      return moved ? std::span<const tensor>(moved_writes) : given_writes;
    }
  };

  /// Chooses a place for a node that may run at any, and submits the copies it needs there. `writes`
  /// that lie elsewhere are new memory in its place. Failures: those of allocations and submissions;
  /// then no later node uses what was copied.
  result<seat> find_seat(std::span<const tensor> reads, std::span<const tensor> writes,
                         call_site site);

  /// `node`, which has that seat, has been submitted: other copies of what it writes are void, and
  /// what it wrote elsewhere is copied back.
  void entered(const seat& from, const std::shared_ptr<flow_node>& node, call_site site);

  /// The node has not been submitted.
  void abandon(const seat& from);

  /// A tensor, or scratch memory, at a place, for commands of a lane; idle copies make room for it.
  result<tensor> make_tensor(std::size_t place, std::size_t lane, const tensor_layout& layout);
  result<pool_buffer<std::byte>> allocate(std::size_t place, std::size_t lane, std::size_t bytes);

  /// Nobody but nodes writes `what`, which is no view, as long as it lives.
  void promise(const tensor& what);

  /// Lets go of copies that no later node would use.
  void sweep();

private:
  using copy_id = placement_book::copy;
  using node_ptr = flow_window::node_ptr;
  struct copy_record {
    tensor memory;
    node_ptr maker;                  ///< the node that wrote it
    bool promised;                   ///< nobody else writes the original,
    std::weak_ptr<const void> owner; ///< as long as that lives
  };

  [[nodiscard]] std::optional<std::size_t> pinned_to(std::span<const tensor> reads,
                                                     std::span<const tensor> writes) const;
  [[nodiscard]] std::size_t choose(std::span<const tensor> reads,
                                   std::span<const tensor> writes) const;
  [[nodiscard]] bool counts(const copy_record& which) const;
  [[nodiscard]] bool is_promised(const tensor& what) const;
  const tensor* look_up(const tensor& what, std::size_t place);
  status bring(seat& target, call_site site);
  status bring_reads(seat& target, call_site site);
  status bring_writes(seat& target);
  [[nodiscard]] std::size_t lane_for(const seat& target) const;
  result<node_ptr> copy(const tensor& from, const tensor& to, std::size_t lane, call_site site);
  void copy_back(const tensor& from, const tensor& to, const node_ptr& writer, call_site site);
  copy_id note(const tensor& original, tensor memory, std::size_t place, node_ptr maker);
  void forget(copy_id which);
  void free_idle(std::size_t place);

  std::vector<flow_place> all_;
  flow_lanes& lanes_;
  flow_window& window_;
  placement_book book_;
  std::map<copy_id, copy_record> copies_;
  std::map<placement_book::mark, std::weak_ptr<const void>> promised_; // the mark at its memory
  std::size_t sweep_at_ = 64;
};

} // namespace troupe::operators
