/* SPDX-License-Identifier: Apache-2.0 */
/* Structures filled with random values, by their layouts. */
#ifndef HASP_TEST_WORKER_RANDOM_OBJECT_H
#define HASP_TEST_WORKER_RANDOM_OBJECT_H

#include "worker/wire/message.h"

struct randomness {
	uint64_t state;
	struct wire_arena arena; /* of everything that is made */
};

uint64_t randomness_next(struct randomness *random);
/* A zeroed structure of the layout's size, with every field set; memory is the arena's. */
void *random_object(struct randomness *random, const struct wire_layout *layout);

#endif
