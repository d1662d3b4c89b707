/* A packet that waits. The trees order it twice, by what is served first and by what is given up first. */
struct waiting {
#if LISTS
	struct bpf_list_node node;
#else
	struct bpf_rb_node served, victim;
	struct bpf_refcount refs;
#endif
	struct sk_buff kept_pointer *skb;
	u64 seq;
	struct packet packet;
};

struct backlog {
	struct bpf_spin_lock lock;
#if LISTS
	struct bpf_list_head line contains(waiting, node);
#else
	struct bpf_rb_root served contains(waiting, served);
	struct bpf_rb_root victims contains(waiting, victim);
#endif
};
struct {
	int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
	u32 *key;
	struct backlog *value;
	int (*max_entries)[QUEUES];
} backlogs SEC(".maps");

within struct backlog *backlog_of(u32 queue)
{
	u32 key = queue;
	return bpf_map_lookup_elem(&backlogs, &key);
}

#if LISTS
within void join(struct backlog *of, struct waiting *p)
{
	bpf_spin_lock(&of->lock);
	bpf_list_push_back_impl(&of->line, &p->node, NULL, 0);
	bpf_spin_unlock(&of->lock);
}
within struct waiting *take(struct backlog *of, int last)
{
	struct bpf_list_node *node;
	bpf_spin_lock(&of->lock);
	if (last)
		node = bpf_list_pop_back(&of->line);
	else
		node = bpf_list_pop_front(&of->line);
	bpf_spin_unlock(&of->lock);
	return node ? container_of(node, struct waiting, node) : NULL;
}
within void look_at_head(struct backlog *of, struct packet *head)
{
	bpf_spin_lock(&of->lock);
	struct bpf_list_node *node = bpf_list_front(&of->line);
	if (node)
		*head = container_of(node, struct waiting, node)->packet;
	bpf_spin_unlock(&of->lock);
}
#else
static _Bool served_first(struct bpf_rb_node *a, const struct bpf_rb_node *b)
{
	return served_before(&container_of(a, struct waiting, served)->packet,
			     &container_of(b, struct waiting, served)->packet);
}
/* The first of this tree is the last in the order of admission; of those that tie, the latest. */
static _Bool given_up_first(struct bpf_rb_node *a, const struct bpf_rb_node *b)
{
	return !kept_before(&container_of(a, struct waiting, victim)->packet,
			    &container_of(b, struct waiting, victim)->packet);
}
within void join(struct backlog *of, struct waiting *p)
{
	struct waiting *twin = bpf_refcount_acquire_impl(p, NULL);
	bpf_spin_lock(&of->lock);
	bpf_rbtree_add_impl(&of->served, &p->served, served_first, NULL, 0);
	bpf_rbtree_add_impl(&of->victims, &twin->victim, given_up_first, NULL, 0);
	bpf_spin_unlock(&of->lock);
}
within struct waiting *take_served(struct backlog *of)
{
	struct bpf_rb_node *node, *twin;
	bpf_spin_lock(&of->lock);
	node = bpf_rbtree_first(&of->served);
	if (node)
		node = bpf_rbtree_remove(&of->served, node);
	if (!node) {
		bpf_spin_unlock(&of->lock);
		return NULL;
	}
	struct waiting *p = container_of(node, struct waiting, served);
	twin = bpf_rbtree_remove(&of->victims, &p->victim);
	bpf_spin_unlock(&of->lock);
	if (twin)
		bpf_obj_drop_impl(container_of(twin, struct waiting, victim), NULL);
	return p;
}
within struct waiting *take_victim(struct backlog *of)
{
	struct bpf_rb_node *node, *twin;
	bpf_spin_lock(&of->lock);
	node = bpf_rbtree_first(&of->victims);
	if (node)
		node = bpf_rbtree_remove(&of->victims, node);
	if (!node) {
		bpf_spin_unlock(&of->lock);
		return NULL;
	}
	struct waiting *p = container_of(node, struct waiting, victim);
	twin = bpf_rbtree_remove(&of->served, &p->served);
	bpf_spin_unlock(&of->lock);
	if (twin)
		bpf_obj_drop_impl(container_of(twin, struct waiting, served), NULL);
	return p;
}
within struct waiting *take(struct backlog *of, int last)
{
	return last ? take_victim(of) : take_served(of);
}
within void look_at_head(struct backlog *of, struct packet *head)
{
	bpf_spin_lock(&of->lock);
	struct bpf_rb_node *node = bpf_rbtree_first(&of->served);
	if (node)
		*head = container_of(node, struct waiting, served)->packet;
	bpf_spin_unlock(&of->lock);
}
#endif

/* So much more waits in a queue, and in its buffer. */
within void count(struct Qdisc *sch, u32 queue, s64 packets, s64 bytes)
{
	now.queues[queue & 15].length += packets;
	now.queues[queue & 15].bytes += bytes;
	int buffer = buffer_of(queue);
	if (buffer >= 0)
		now.buffers[buffer & 15].curr_size += buffer_counts_packets(buffer) ? packets : bytes;
	sch->q.qlen += packets;
	sch->qstats.backlog += bytes;
}

within s64 curr_size(u32 queue)
{
	return counts_packets(queue) ? now.queues[queue & 15].length : now.queues[queue & 15].bytes;
}

within void look(u32 queue, struct view *to)
{
	struct queue *of = &now.queues[queue & 15];
	int buffer = buffer_of(queue);
	to->size = queue_size(queue);
	to->curr_size = curr_size(queue);
	to->length = of->length;
	to->adm_state = of->adm_state;
	to->sched_state = of->sched_state;
	to->buffer_size = buffer >= 0 ? buffer_size(buffer) : 0;
	to->buffer_curr_size = buffer >= 0 ? now.buffers[buffer & 15].curr_size : 0;
	to->buffer_adm_state = buffer >= 0 ? now.buffers[buffer & 15].adm_state : 0;
	to->port_sched_state = now.port_sched_state;
}

/* A queue that holds any, as orders of queues see it. */
apart int stand(u32 queue, struct candidate *as)
{
	if (now.queues[queue & 15].length == 0)
		return 0;
	look(queue, &as->queue);
#if LOOKS_AT_HEADS
	struct backlog *of = backlog_of(queue);
	if (!of)
		return 0;
	look_at_head(of, &as->head);
#endif
	return 1;
}

/* A packet that comes, for as long as nothing gives it up. */
struct arriving {
	struct Qdisc *sch;
	struct bpf_sk_buff_ptr *to_free;
	u64 seq;
	int here;
	struct packet packet;
};

/* The last of a queue in the order of admission goes. */
apart int drop_victim(struct arriving *x, u32 queue)
{
	struct backlog *of = backlog_of(queue);
	if (!of)
		return 0;
	struct waiting *p = take(of, 1);
	if (!p)
		return 0;
	if (p->seq == x->seq)
		x->here = 0;
	count(x->sch, queue, -1, -p->packet.size);
	x->sch->qstats.drops++;
	struct sk_buff *skb = bpf_kptr_xchg(&p->skb, NULL);
	bpf_obj_drop_impl(p, NULL);
	if (skb)
		bpf_qdisc_skb_drop(skb, x->to_free);
	return 1;
}

/* The last of a buffer's queues that hold any: of those that tie, the packet's own, then the first. */
within int last_queue(u32 buffer, u32 own)
{
	struct candidate one, last;
	int found = -1;
	if (!orders_queues(buffer))
		return own;
	for (u32 nth = 0; nth < QUEUES; nth++) {
		u32 queue = buffer_turns[buffer & 15][nth];
		if (queue-- == 0)
			break;
		if (!stand(queue, &one))
			continue;
		if (found < 0 || buffer_order(buffer, &last, &one)) {
			found = queue;
			last = one;
		}
	}
	if (found >= 0 && stand(own, &one) && !buffer_order(buffer, &one, &last) && !buffer_order(buffer, &last, &one))
		found = own;
	return found;
}
apart int drop_of_buffer(struct arriving *x, u32 buffer)
{
	int queue = last_queue(buffer, x->packet.queue);
	return queue < 0 ? 0 : drop_victim(x, queue);
}

#if NOTIFIES
/* Who was notified of what: read from this ring. `part`: 0 a queue, 1 a buffer, 2 a port; `number`: which. */
struct notice {
	u32 part, number;
	struct packet packet;
};
struct {
	int (*type)[27]; /* BPF_MAP_TYPE_RINGBUF */
	int (*max_entries)[1 << 16];
} notices SEC(".maps");
within void notify(u32 part, u32 number, const struct packet *packet)
{
	struct notice notice = { .part = part, .number = number, .packet = *packet };
	bpf_ringbuf_output(&notices, &notice, sizeof(notice), 0);
}
#endif

