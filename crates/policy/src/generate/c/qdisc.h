#if __clang_major__ < 15
#error "clang before 15 loses the types of pointers in maps: use a newer one (Debian: apt-get install clang-19)"
#endif
#define kept_pointer __attribute__((btf_type_tag("kptr")))
#define contains(type, node) __attribute__((btf_decl_tag("contains:" #type ":" #node)))
#define container_of(p, type, member) ((type *)((void *)(p) - __builtin_offsetof(type, member)))

struct bpf_spin_lock {
	u32 val;
};
struct bpf_rb_root {
	u64 opaque[2];
} __attribute__((aligned(8)));
struct bpf_rb_node {
	u64 opaque[4];
} __attribute__((aligned(8)));
struct bpf_list_head {
	u64 opaque[2];
} __attribute__((aligned(8)));
struct bpf_list_node {
	u64 opaque[3];
} __attribute__((aligned(8)));
struct bpf_refcount {
	u32 opaque[1];
} __attribute__((aligned(4)));
struct bpf_dynptr {
	u64 opaque[2];
} __attribute__((aligned(8)));
struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

struct sk_buff {
	u32 mark, priority;
	u16 protocol, network_header, mac_header;
	char cb[48];
} KERNEL;
struct qdisc_skb_cb {
	u32 pkt_len;
} KERNEL;
struct qdisc_skb_head {
	u32 qlen;
} KERNEL;
struct gnet_stats_queue {
	u32 backlog, drops;
} KERNEL;
struct Qdisc {
	u32 limit;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
} KERNEL;
struct bpf_sk_buff_ptr {
	struct sk_buff *skb;
} KERNEL;
struct nlattr;
struct netlink_ext_ack;
struct Qdisc_ops {
	char id[16];
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
};

#define HELPER static __attribute__((unused))
HELPER void *(*bpf_map_lookup_elem)(void *, const void *) = (void *)1;
HELPER u64 (*bpf_ktime_get_ns)(void) = (void *)5;
HELPER u32 (*bpf_get_prandom_u32)(void) = (void *)7;
HELPER long (*bpf_spin_lock)(struct bpf_spin_lock *) = (void *)93;
HELPER long (*bpf_spin_unlock)(struct bpf_spin_lock *) = (void *)94;
HELPER long (*bpf_ringbuf_output)(void *, void *, u64, u64) = (void *)130;
HELPER void *(*bpf_kptr_xchg)(void *, void *) = (void *)194;
HELPER long (*bpf_dynptr_read)(void *, u32, const struct bpf_dynptr *, u32, u64) = (void *)201;

extern void *bpf_obj_new_impl(u64, void *) KFUNC;
extern void bpf_obj_drop_impl(void *, void *) KFUNC;
extern void *bpf_refcount_acquire_impl(void *, void *) KFUNC;
extern int bpf_rbtree_add_impl(struct bpf_rb_root *, struct bpf_rb_node *,
			       _Bool (*)(struct bpf_rb_node *, const struct bpf_rb_node *), void *, u64) KFUNC;
extern struct bpf_rb_node *bpf_rbtree_first(struct bpf_rb_root *) KFUNC;
extern struct bpf_rb_node *bpf_rbtree_remove(struct bpf_rb_root *, struct bpf_rb_node *) KFUNC;
extern int bpf_list_push_back_impl(struct bpf_list_head *, struct bpf_list_node *, void *, u64) KFUNC;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *) KFUNC;
extern struct bpf_list_node *bpf_list_pop_back(struct bpf_list_head *) KFUNC;
extern struct bpf_list_node *bpf_list_front(struct bpf_list_head *) KFUNC;
extern u32 bpf_skb_get_hash(struct sk_buff *) KFUNC;
extern void bpf_qdisc_skb_drop(struct sk_buff *, struct bpf_sk_buff_ptr *) KFUNC;
extern void bpf_qdisc_bstats_update(struct Qdisc *, const struct sk_buff *) KFUNC;
extern int bpf_dynptr_from_skb(struct sk_buff *, u64, struct bpf_dynptr *) KFUNC;
extern int bpf_iter_num_new(struct bpf_iter_num *, int, int) KFUNC;
extern int *bpf_iter_num_next(struct bpf_iter_num *) KFUNC;
extern void bpf_iter_num_destroy(struct bpf_iter_num *) KFUNC;

/* What orders and conditions know of a packet. (All of one width: it is copied member by member.) */
struct packet {
	s64 value, arrival, flow, size, queue, tos;
};

/* What they know of a queue, its buffer and its port. */
struct view {
	s64 size, curr_size, length, adm_state, sched_state;
	s64 buffer_size, buffer_curr_size, buffer_adm_state;
	s64 port_sched_state;
};

/* A queue and its head, as orders of queues see it. */
struct candidate {
	struct view queue;
	struct packet head;
};

struct queue {
	s64 length, bytes, adm_state, sched_state;
	struct draws draws;
};
struct buffer {
	s64 curr_size, adm_state;
	struct draws draws;
};

/* All that changes, but for the packets. */
struct {
	struct queue queues[16];
	struct buffer buffers[16];
	s64 port_sched_state;
	struct draws select;
	/* The discipline that it is about, when that was made, and how many packets came. */
	u64 owner, since, seq;
} now SEC(".bss.now");

/* What could not be done: a state beyond 64 bits, a packet without memory. */
struct {
	u64 states, memory;
} faults SEC(".bss.faults");

/* A draw that is the same for all who give this seed; without one it differs each time. */
#ifdef OQ_SEED
#define SEED OQ_SEED
#else
#define SEED ((u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32())
#endif
/* More than packets can wait. */
#define MOST_TURNS (1 << 22)

