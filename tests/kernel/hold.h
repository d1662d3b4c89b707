/* Holds packets back: so many may leave after each that comes, as `play` says before it sends one. */
struct {
	unsigned long long credit;
} held __attribute__((section(".bss.held"), used));
static inline __attribute__((always_inline)) int may_send(void)
{
	if (held.credit == 0)
		return 0;
	held.credit--;
	return 1;
}
#define MAY_SEND may_send()
