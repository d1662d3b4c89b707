typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef __int128 wide;

#define NULL ((void *)0)
#define SEC(name) __attribute__((section(name), used))
#define KFUNC __attribute__((section(".ksyms")))
/* Fields of the kernel are found by name when this is loaded (CO-RE): only those that are used are declared. */
#define KERNEL __attribute__((preserve_access_index))
#define within static inline __attribute__((always_inline, unused))
#define apart static __attribute__((noinline, unused))

/* What is left of a division by b > 0, never negative. */
within s64 rest(s64 a, s64 b)
{
	if (a >= 0)
		return (u64)a % (u64)b;
	u64 over = (0 - (u64)a) % (u64)b;
	return over ? b - (s64)over : 0;
}

/* The mixer of SplitMix64: the n-th draw of a stream is a function of its key and n, as in all engines. */
#define GOLDEN 0x9e3779b97f4a7c15ULL
within u64 mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

struct draws {
	u64 key, drawn;
};

within u64 draw(struct draws *of)
{
	of->drawn++;
	return mix(of->key + of->drawn * GOLDEN);
}

/* Any of 0 .. n, each as likely; n < 2^32. */
within u32 below(struct draws *of, u64 n)
{
	u64 bits = draw(of);
	return ((bits >> 32) * n + (((bits & 0xffffffff) * n) >> 32)) >> 32;
}

within u64 purpose(u64 seed, const char *name, u32 length)
{
	u64 key = mix(seed ^ GOLDEN);
	for (u32 nth = 0; nth < length; nth++)
		key = mix(key + (u8)name[nth] + GOLDEN);
	return key;
}

within void stream(struct draws *of, u64 purpose, u64 entity)
{
	of->key = mix(purpose ^ mix(entity + GOLDEN));
	of->drawn = 0;
}

/* 128 bits, for what a state becomes. */
within wide times(wide a, wide b)
{
	u64 x = a, y = b, low = 0xffffffff;
	u64 ll = (x & low) * (y & low), lh = (x & low) * (y >> 32), hl = (x >> 32) * (y & low), hh = (x >> 32) * (y >> 32);
	u64 middle = (ll >> 32) + (lh & low) + (hl & low);
	u64 high = hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
	high += (u64)(a >> 64) * y + x * (u64)(b >> 64);
	return (wide)(((unsigned __int128)high << 64) | (middle << 32 | (ll & low)));
}

/* a / by, by > 0, rounded down, if 64 bits hold it. */
within int divided(u64 high, u64 low, s64 by, s64 *to)
{
	int negative = (s64)high < 0;
	if (negative) {
		low = 0 - low;
		high = ~high + (low == 0);
	}
	u64 divisor = by, quotient = 0, left = 0;
	if (high >= divisor)
		return 0;
	if (!high) {
		quotient = low / divisor;
		left = low % divisor;
	} else {
		left = high;
		for (u32 nth = 0; nth < 64; nth++) {
			left = left << 1 | low >> 63;
			low <<= 1;
			/* Without a branch, or there would be two ways on for the verifier to follow at each bit. */
			u64 less = ((~left & divisor) | ((~left | divisor) & (left - divisor))) >> 63;
			asm volatile("" : "+r"(less));
			left -= divisor & (less - 1);
			quotient = quotient << 1 | (less ^ 1);
		}
	}
	if (!negative) {
		if (quotient >> 63)
			return 0;
		*to = quotient;
		return 1;
	}
	if (left)
		quotient++;
	if (quotient > 1ULL << 63)
		return 0;
	*to = (s64)(0 - quotient);
	return 1;
}
within int become(s64 *state, wide over, s64 under)
{
	return divided((u64)(over >> 64), (u64)over, under, state);
}

