#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graphs/graph_ir.hpp"
#include "core/graphs/private_memory.hpp"
#include "core/kernel_closure.hpp"
#include "core/status.hpp"
#include "core/task.hpp"
#include "troupe/context.hpp"
#include "troupe/copy_request.hpp"
#include "troupe/graph_buffer.hpp"
#include "troupe/handles.hpp"
#include "troupe/stream.hpp"

namespace troupe {

class executable;

/// A node of one graph: a plain value. A default one is of no graph.
struct node {
  std::uint64_t graph = 0; ///< id of the graph
  std::uint32_t index = 0;
};

/// A node that runs a kernel of type `F`: what `executable_graph::update` can give new arguments.
template <class F>
struct kernel_node : node {
  F function; ///< as it was added
};

/// A node of a sub-graph: the nodes that hold it, from the outermost, each with the graph that its
/// holder was given; made by `inside`.
template <class Node>
struct inner_node {
  std::vector<node> holders;
  Node target;
};

/// `target`, a node of the graph that was added as sub-graph, conditional, loop or repeat in
/// `holder`: for updates. Where a graph was added several times each holder has a copy of its own.
///
///     const auto add = body.add_kernel("add", add_to, x, 1.0F).value();
///     const auto rounds = g.add_repeat("rounds", 10, body).value();
///     ... run.update(inside(rounds, add), x, 2.0F).or_throw();
template <class Node>
[[nodiscard]] inner_node<Node> inside(const node& holder, Node target) {
  return {{holder}, std::move(target)};
}
template <class Node>
[[nodiscard]] inner_node<Node> inside(const node& holder, inner_node<Node> target) {
  target.holders.insert(target.holders.begin(), holder);
  return target;
}

/// Work and the order between its parts, built by hand or captured, to be instantiated once and
/// launched many times. Nothing runs before that. A value: copies are independent graphs with the
/// same nodes, whose handles are good for both; kernels and callbacks themselves are shared, so one
/// that changes state of its own is to be copied by its user. One thread at a time.
///
///     graph g("step");
///     const auto a = g.add_kernel("scale", scale, x, 2.0F).value();
///     const auto b = g.add_kernel("sum", sum, x, y).value();
///     g.add_dependency(a, b).or_throw();
///     auto run = executable_graph::instantiate(context, g).value();
///     for (...) run.launch(stream).or_throw();
///
/// Adding fails with 207012 at 1,048,576 nodes and with 107000 for a bad argument, which is named;
/// a refused call leaves the graph as it was.
class graph {
public:
  explicit graph(std::string_view name = "graph");

  /// What was captured, with memory of that context; 0: with none.
  explicit graph(graph_ir content, std::uint64_t context_id = 0);

  // -- nodes ------------------------------------------------------------------

  /// As `stream::launch`. All device memory of a graph is of one context.
  template <class Kernel, class... Args>
  [[nodiscard]] result<kernel_node<std::decay_t<Kernel>>> add_kernel(const task& t, Kernel&& kernel,
                                                                     const Args&... args) {
    if (auto s = check_work(t, {detail::context_of(args)...}); !s.ok()) return s;
    if constexpr ((detail::is_graph_buffer<Args> || ...)) {
      if (auto s = check_private({detail::private_of(args)...}); !s.ok()) return s;
      auto make = [t, function = std::decay_t<Kernel>(kernel),
                   all = std::make_tuple(detail::kept(args)...)](
                      const std::vector<std::byte*>& at) {
        return std::apply(
            [&](const auto&... each) {
              return std::make_shared<command>(
                  make_kernel_command(t, function, detail::placed(each, at)...));
            },
            all);
      };
      auto added = add_bound(t.name, std::move(make), {detail::private_of(args)...});
      if (!added) return added.error();
      return kernel_node<std::decay_t<Kernel>>{added.value(), std::forward<Kernel>(kernel)};
    } else {
      auto added = add_work(t.name, make_kernel_command(t, kernel, args...));
      if (!added) return added.error();
      return kernel_node<std::decay_t<Kernel>>{added.value(), std::forward<Kernel>(kernel)};
    }
  }

  /// As `stream::copy`, with host memory of any kind, which is read or written when a replay gets
  /// there and must live till then. 207000 from host to host; zero bytes are an empty node.
  template <class Target, class Source>
  [[nodiscard]] result<node> add_copy(Target&& target, const Source& source,
                                      call_site site = call_site::here()) {
    using target_type = std::remove_cvref_t<Target>;
    if constexpr (detail::is_graph_buffer<target_type> || detail::is_graph_buffer<Source>) {
      // `placed` gives a view of a graph's buffer, and any other argument as it is.
      return add_bound_copy(
          make_copy_request(detail::placed(target, {}), detail::placed(source, {}), site),
          detail::private_of(target), detail::private_of(source));
    } else {
      return add_copy_raw(make_copy_request(target, source, site));
    }
  }
  [[nodiscard]] result<node> add_copy_raw(const copy_request& request);

  /// As `stream::fill_bytes`.
  template <class Target>
    requires device_memory<Target>
  [[nodiscard]] result<node> add_fill(const Target& target, unsigned char value,
                                      call_site site = call_site::here()) {
    return add_fill_raw(target.data(), detail::bytes_in(target.size(), sizeof(*target.data())),
                        value, target.context_id(), site);
  }

  template <class T>
  [[nodiscard]] result<node> add_fill(const graph_buffer<T>& target, unsigned char value,
                                      call_site site = call_site::here()) {
    return add_bound_fill(detail::private_of(target), target.count * sizeof(T), value, site);
  }

  // -- private memory ---------------------------------------------------------

  /// Memory for `count` elements that only nodes of this graph use, as arguments of kernels, copies
  /// and fills. All of it lies in one block that is allocated when the graph is instantiated; two
  /// buffers share bytes there only if all users of one come before all users of the other. A
  /// sub-graph has its own. Failures: 100000 for 0 elements, 107000 for more bytes than there are.
  template <class T>
  [[nodiscard]] result<graph_buffer<T>> allocate(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64, "device memory holds bytes");
    const auto range = allocate_range(count, sizeof(T));
    if (!range) return range.error();
    return graph_buffer<T>{id_, range.value(), count};
  }

  /// A node that gives up `memory`: instantiation fails with 107000 if a user does not come before
  /// it, and the bytes are used again only after it. Without one they are free after the last user.
  /// 107000 for memory of another graph or with such a node.
  template <class T>
  [[nodiscard]] result<node> add_free(const graph_buffer<T>& memory) {
    return add_free_raw({memory.graph, memory.range});
  }

  /// How large the block of private memory is (`peak_bytes`), and would be without reuse
  /// (`total_bytes`). Fails as `executable_graph::instantiate` for what is wrong with the order.
  [[nodiscard]] result<private_layout> plan_private_memory() const;

  // -- more nodes -------------------------------------------------------------

  /// As `stream::callback`. While it runs the graph's other work waits; other streams do not.
  [[nodiscard]] result<node> add_callback(const task& t, std::function<void()> function);

  /// Nothing but a point in the order.
  [[nodiscard]] result<node> add_empty(std::string_view name = "empty");

  /// A copy of `body`, as it is now, in one node's place; its failing `validate` is reported.
  [[nodiscard]] result<node> add_subgraph(std::string_view name, const graph& body);

  /// Runs `body` if `*condition` is not zero, or as long as it is not. Read each time the node is
  /// reached: device or host memory that lives till then, and that kernels before may set.
  [[nodiscard]] result<node> add_conditional(std::string_view name, const std::uint32_t* condition,
                                             const graph& body);
  [[nodiscard]] result<node> add_loop(std::string_view name, const std::uint32_t* condition,
                                      const graph& body);

  /// Runs `body` `times` times; 0 is allowed.
  [[nodiscard]] result<node> add_repeat(std::string_view name, std::uint32_t times,
                                        const graph& body);

  // -- order ------------------------------------------------------------------

  /// `later` begins after `earlier` has ended. 107000 for nodes of another graph, or the same node
  /// twice.
  status add_dependency(const node& earlier, const node& later);

  /// Says what a node computes, for exports and for passes over graphs. 107000 for a foreign node.
  status describe(const node& target, node_description what);

  // -- looking ----------------------------------------------------------------

  /// Success, or 107000 with the nodes of a cycle.
  [[nodiscard]] status validate() const { return content_.validate(); }
  [[nodiscard]] std::size_t node_count() const noexcept { return content_.nodes().size(); }
  [[nodiscard]] std::size_t edge_count() const noexcept { return content_.edges(); }
  [[nodiscard]] const graph_ir& content() const noexcept { return content_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] std::uint64_t context_id() const noexcept { return context_id_; }

  /// The graph in DOT or JSON, each node with its name and what the cost model says it takes on a
  /// device of the default profile, in nanoseconds.
  [[nodiscard]] std::string to_dot() const;
  [[nodiscard]] std::string to_json() const;

private:
  friend class executable_graph;

  status check_work(const task& t, std::initializer_list<std::uint64_t> contexts);
  [[nodiscard]] result<node> add_work(std::string_view name, command&& work);
  [[nodiscard]] result<node> add_node(graph_node made);
  [[nodiscard]] result<node> add_body(node_kind kind, std::string_view name, const graph& body,
                                      const std::uint32_t* condition, std::uint32_t times);
  [[nodiscard]] result<node> add_fill_raw(void* target, std::size_t bytes, unsigned char value,
                                          std::uint64_t context, call_site site);
  [[nodiscard]] status check_node(const node& n) const;

  using private_arguments = std::initializer_list<std::optional<detail::named_private>>;
  [[nodiscard]] status check_private(private_arguments named) const;
  [[nodiscard]] result<std::uint32_t> allocate_range(std::size_t count, std::size_t element);
  [[nodiscard]] result<node> add_bound(std::string_view name, private_memory::binder make,
                                       private_arguments named);
  [[nodiscard]] result<node> add_bound_copy(copy_request request,
                                            std::optional<detail::named_private> target,
                                            std::optional<detail::named_private> source);
  [[nodiscard]] result<node> add_bound_fill(std::optional<detail::named_private> target,
                                            std::size_t bytes, unsigned char value,
                                            call_site site);
  [[nodiscard]] result<node> add_free_raw(detail::named_private memory);

  graph_ir content_;
  private_memory private_;
  std::uint64_t id_;
  std::uint64_t context_id_ = 0; // of its device memory; 0: none yet
};

/// A graph made ready to run in a context. A shared handle; any thread. Calls on an empty or
/// destroyed one fail with 107017.
///
/// It keeps what its kernels captured, not the memory they name. Until it is destroyed it counts
/// against the device's limit of streams with as many as its widest part is wide, at most 32.
class executable_graph {
public:
  executable_graph() noexcept = default;

  /// Allocates the graph's private memory, which the handles own. Failures: 107000 for a cycle,
  /// memory of another context, or memory that is not in use (the node is named); 207005 at the
  /// device's limit of streams; those of `context::allocate`; the context's own.
  [[nodiscard]] static result<executable_graph> instantiate(const context& where, const graph& g);

  /// Replays the graph as one command of `target`, a stream of its context: it begins after all
  /// before it in the stream, and nothing after it begins before it has ended. Replays of one
  /// executable follow each other, whatever streams they are launched on. A node that fails ends
  /// the replay; the failure names graph, replay and node. Failures besides those of a submission:
  /// 107003 for a stream of another context, 107000 when memory that a node names was freed, 107037
  /// when an aborted replay has not returned yet.
  status launch(const stream& target, call_site site = call_site::here()) const;

  /// Gives a kernel node other arguments, from the next launch on; replays launched before keep
  /// theirs, also if they have not begun. 107000 for a node of another graph, for memory that is of
  /// another context or not in use, or for private memory that the node did not name when it was
  /// added, as its bytes may be another's then: then nothing changes.
  template <class F, class... Args>
  status update(const kernel_node<F>& target, const Args&... args) const {
    return update_kernel({{}, target}, target.function, args...);
  }

  /// The same for a node of a sub-graph, see `inside`; 107000 also for a holder that has no sub-graph
  /// or another one. It costs a copy of each sub-graph on the way.
  template <class F, class... Args>
  status update(const inner_node<kernel_node<F>>& target, const Args&... args) const {
    return update_kernel({target.holders, target.target}, target.target.function, args...);
  }

  /// The same for a copy node.
  template <class Target, class Source>
  status update_copy(const node& which, Target&& target, const Source& source,
                     call_site site = call_site::here()) const {
    return update_copy_raw({{}, which}, make_copy_request(target, source, site));
  }
  template <class Target, class Source>
  status update_copy(const inner_node<node>& which, Target&& target, const Source& source,
                     call_site site = call_site::here()) const {
    return update_copy_raw(which, make_copy_request(target, source, site));
  }

  /// Ends it for all its handles. 107037 while a replay has not ended.
  status destroy() const;

  [[nodiscard]] std::uint64_t replays() const;
  [[nodiscard]] std::size_t lanes() const; ///< streams of the device's limit that it holds

  /// Bytes of its block of private memory, which is given back with the last handle, once replays
  /// have ended.
  [[nodiscard]] std::uint64_t private_bytes() const;

  /// What stands behind this handle; for the runtime's own parts.
  [[nodiscard]] const std::shared_ptr<executable>& state() const noexcept { return state_; }

private:
  struct private_block;
  using any_node = inner_node<node>; // with no holders: one of the graph itself

  template <class F, class... Args>
  status update_kernel(const any_node& target, const F& function, const Args&... args) const {
    if (auto s = check_update(target, {detail::context_of(args)...}); !s.ok()) return s;
    if constexpr ((detail::is_graph_buffer<Args> || ...)) {
      const auto at = addresses_for(target, {detail::private_of(args)...});
      if (!at) return at.error();
      return update_work(
          target, make_kernel_command("update", function, detail::placed(args, at.value())...));
    } else {
      return update_work(target, make_kernel_command("update", function, args...));
    }
  }

  [[nodiscard]] result<std::vector<std::byte*>> addresses_for(
      const any_node& target,
      std::initializer_list<std::optional<detail::named_private>> named) const;
  status check_update(const any_node& target, std::initializer_list<std::uint64_t> contexts) const;
  status update_work(const any_node& target, command&& work) const;
  status update_copy_raw(const any_node& which, const copy_request& request) const;

  std::shared_ptr<machine> home_;
  std::shared_ptr<executable> state_;
  std::shared_ptr<const private_block> private_;
  std::uint64_t graph_id_ = 0;
};

} // namespace troupe
