// SPDX-License-Identifier: GPL-2.0
/*
 * Print the rate of this machine's time stamp counter, in kHz.
 *
 * A guest under TCG reads this very counter. Its own calibration can be off by
 * two on a busy machine, and then all its time-outs are wrong: so measure here
 * and tell it. Owns nothing, takes nothing; run.sh compiles and calls it.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct sample {
	uint64_t tsc;
	uint64_t ns;
};

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * Both clocks at one moment: of many tries the one during which least time
 * passed, as in the others this process was put aside between the two reads.
 */
static struct sample sample_take(void)
{
	uint64_t best = UINT64_MAX;
	struct sample s = { 0 };
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = clock_ns();
		uint64_t after = __rdtsc();

		if (after - before < best) {
			best = after - before;
			s.tsc = before + best / 2;
			s.ns = ns;
		}
	}
	return s;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	struct sample a, b;

	a = sample_take();
	nanosleep(&pause, NULL);
	b = sample_take();
	printf("%.0f\n", (b.tsc - a.tsc) * 1e6 / (b.ns - a.ns));
	return 0;
}
