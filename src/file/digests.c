/* SPDX-License-Identifier: Apache-2.0 */
#include "file/digests.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

struct digest {
	char *content; /* owned; NULL: none */
	size_t len;
	struct sha256 sum;
};

struct digests {
	pthread_mutex_t lock;
	struct digest slots[DIGESTS_COUNT];
};

struct digests *digests_new(void)
{
	struct digests *digests = mem_alloc(1, sizeof(*digests));

	pthread_mutex_init(&digests->lock, NULL);
	return digests;
}

void digests_free(struct digests *digests)
{
	if (!digests)
		return;
	for (size_t i = 0; i < ARRAY_LEN(digests->slots); i++)
		free(digests->slots[i].content);
	pthread_mutex_destroy(&digests->lock);
	free(digests);
}

static struct digest *slot_of(struct digests *digests, const struct stat *file)
{
	return &digests->slots[file->st_ino % DIGESTS_COUNT];
}

/* What is not worth a slot: hashed as fast as compared, or too large. */
static bool is_kept(struct span content)
{
	return content.len >= 256 && content.len <= DIGESTS_CONTENT_BYTES;
}

bool digests_find(struct digests *digests, const struct stat *file, struct span content,
                  struct sha256 *ret)
{
	const struct digest *slot = slot_of(digests, file);
	bool found;

	if (!is_kept(content))
		return false;
	pthread_mutex_lock(&digests->lock);
	found = slot->content && slot->len == content.len &&
	        memcmp(slot->content, content.data, content.len) == 0;
	if (found)
		*ret = slot->sum;
	pthread_mutex_unlock(&digests->lock);
	return found;
}

void digests_keep(struct digests *digests, const struct stat *file, struct span content,
                  const struct sha256 *sum)
{
	struct digest *slot = slot_of(digests, file);
	char *copy = is_kept(content) ? malloc(content.len) : NULL;
	char *before;

	if (!copy)
		return;
	memcpy(copy, content.data, content.len);
	pthread_mutex_lock(&digests->lock);
	before = slot->content;
	*slot = (struct digest){ copy, content.len, *sum };
	pthread_mutex_unlock(&digests->lock);
	free(before);
}
