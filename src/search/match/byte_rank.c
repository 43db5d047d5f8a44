/* SPDX-License-Identifier: Apache-2.0 */
/* Byte frequencies: the mean of those in about 100 MB of source, in equal parts C of a kernel,
 * C and C++ headers of a system, Python of a distribution, and JavaScript of npm packages.  Bytes
 * beyond ASCII are taken to be commoner than that, since text in other scripts is full of
 * a few of them. */
#include "search/match/byte_rank.h"

const unsigned char byte_rank[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 146, 152, 0, 23, 80, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	171, 107, 131, 123, 101, 102, 118, 131, 140, 140, 138, 112, 141, 131, 137, 133,
	131, 125, 124, 118, 115, 112, 115, 105, 113, 107, 131, 136, 118, 133, 129, 104,
	107, 131, 120, 131, 126, 134, 124, 123, 116, 131, 94, 111, 129, 126, 130, 128,
	128, 101, 131, 131, 134, 122, 114, 112, 119, 109, 108, 118, 112, 118, 85, 153,
	114, 153, 137, 148, 148, 161, 144, 138, 141, 154, 112, 131, 148, 142, 153, 152,
	146, 120, 155, 154, 158, 146, 134, 130, 133, 134, 117, 125, 111, 125, 91, 1,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
};

/* Bytes of a text are not independent of each other: those beside the two rarest count less. */
#define OTHERS_WEIGHT 4
#define CERTAIN 192

int text_rank(struct span text)
{
	int first = CERTAIN, second = CERTAIN, sum = 0;

	for (size_t i = 0; i < text.len && i < 64; i++) {
		int rank = byte_rank[(unsigned char)text.data[i]];

		sum += rank - CERTAIN;
		if (rank < first) {
			second = first;
			first = rank;
		} else if (rank < second) {
			second = rank;
		}
	}
	first -= CERTAIN;
	second -= CERTAIN;
	return first + second + (sum - first - second) / OTHERS_WEIGHT;
}
