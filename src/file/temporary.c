/* SPDX-License-Identifier: Apache-2.0 */
/* Making and reading the names of temporaries. */
#include "file/temporary.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/random.h"

static const char head[] = ".hasp-";
static const char digits[] = "0123456789abcdef";

/* Offsets in the name: ".hasp-K-" L "-" O "-" N "-" R. */
enum {
	KIND_AT = 6,
	KEYS_AT = 8,
	KEY_HEX = 2 * TEMPORARY_KEY_SIZE,
	KEY_STEP = KEY_HEX + 1,
	RANDOM_AT = KEYS_AT + 3 * KEY_STEP,
	NAME_LEN = RANDOM_AT + 8,
	LEAF_MAX = TEMPORARY_NAME_SIZE - 1 - NAME_LEN - 1,
};

void temporary_init(struct temporary *temporary, enum temporary_kind kind, const char *leaf,
                    const struct sha256 *old_sum, const struct sha256 *new_sum)
{
	struct sha256 leaf_sum = sha256_of(span_str(leaf));

	*temporary = (struct temporary){ .kind = kind };
	if (kind == TEMPORARY_DELETE && strlen(leaf) <= LEAF_MAX)
		temporary->whole_leaf = leaf;
	memcpy(temporary->leaf, leaf_sum.bytes, TEMPORARY_KEY_SIZE);
	if (old_sum)
		memcpy(temporary->old_sum, old_sum->bytes, TEMPORARY_KEY_SIZE);
	if (new_sum)
		memcpy(temporary->new_sum, new_sum->bytes, TEMPORARY_KEY_SIZE);
}

static void temporary_put_key(char *at, const unsigned char key[static TEMPORARY_KEY_SIZE])
{
	for (int i = 0; i < TEMPORARY_KEY_SIZE; i++) {
		at[2 * i] = digits[key[i] >> 4];
		at[2 * i + 1] = digits[key[i] & 15];
	}
}

/* Not secret, only different: a stranger who guesses it makes us ask again, and a forked child,
 * which has the same in store, takes the next. */
static uint32_t random_part(void)
{
	static _Thread_local uint32_t store[64];
	static _Thread_local unsigned left;

	if (!left) {
		random_distinct(store, sizeof(store));
		left = ARRAY_LEN(store);
	}
	return store[--left];
}

void temporary_format(const struct temporary *temporary, char name[static TEMPORARY_NAME_SIZE])
{
	const unsigned char *keys[] = { temporary->leaf, temporary->old_sum, temporary->new_sum };

	memcpy(name, head, sizeof(head));
	name[KIND_AT] = (char)temporary->kind;
	name[KIND_AT + 1] = '-';
	for (int i = 0; i < 3; i++) {
		temporary_put_key(name + KEYS_AT + i * KEY_STEP, keys[i]);
		name[KEYS_AT + i * KEY_STEP + KEY_HEX] = '-';
	}
	snprintf(name + RANDOM_AT, 9, "%08x", random_part());
	if (temporary->whole_leaf)
		snprintf(name + NAME_LEN, TEMPORARY_NAME_SIZE - NAME_LEN, "-%s",
		         temporary->whole_leaf);
}

static int temporary_hex_digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool get_key(const char *at, unsigned char key[static TEMPORARY_KEY_SIZE])
{
	for (int i = 0; i < TEMPORARY_KEY_SIZE; i++) {
		int high = temporary_hex_digit(at[2 * i]);
		int low = temporary_hex_digit(at[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		key[i] = (unsigned char)(high << 4 | low);
	}
	return at[KEY_HEX] == '-';
}

bool temporary_parse(const char *name, struct temporary *ret)
{
	struct temporary temporary = { .kind = TEMPORARY_PART };

	if (strncmp(name, head, sizeof(head) - 1) != 0 || strlen(name) < NAME_LEN ||
	    !strchr("pxdt", name[KIND_AT]) || name[KIND_AT + 1] != '-')
		return false;
	temporary.kind = (enum temporary_kind)name[KIND_AT];
	if (name[NAME_LEN] == '-' && temporary.kind == TEMPORARY_DELETE)
		temporary.whole_leaf = name + NAME_LEN + 1;
	else if (name[NAME_LEN])
		return false;
	if (!get_key(name + KEYS_AT, temporary.leaf) ||
	    !get_key(name + KEYS_AT + KEY_STEP, temporary.old_sum) ||
	    !get_key(name + KEYS_AT + 2 * KEY_STEP, temporary.new_sum))
		return false;
	if (temporary.whole_leaf && !temporary_is_for(&temporary, temporary.whole_leaf))
		return false;
	*ret = temporary;
	return true;
}

bool temporary_is_for(const struct temporary *temporary, const char *leaf)
{
	struct sha256 sum = sha256_of(span_str(leaf));

	return memcmp(sum.bytes, temporary->leaf, TEMPORARY_KEY_SIZE) == 0;
}
