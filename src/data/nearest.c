/* SPDX-License-Identifier: Apache-2.0 */
/* The known name that an unknown one most likely stands for. */
#include <ctype.h>
#include <stdint.h>

#include "base/mem.h"
#include "data/schema.h"

enum { NAME_MAX_COMPARED = 40 };

/* Letters and digits in lower case; returns how many. */
static size_t fold(const char *name, char out[static NAME_MAX_COMPARED + 1])
{
	size_t len = 0;

	for (; *name && len < NAME_MAX_COMPARED; name++)
		if (isalnum((unsigned char)*name))
			out[len++] = (char)tolower((unsigned char)*name);
	out[len] = '\0';
	return len;
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance, one row at a time. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[NAME_MAX_COMPARED + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(row[j] + 1, row[j - 1] + 1, change);
		}
	}
	return row[b_len];
}

/* How far apart two names are; SIZE_MAX when too far to be meant. */
static size_t score(const char *name, const char *known)
{
	char a[NAME_MAX_COMPARED + 1], b[NAME_MAX_COMPARED + 1];
	size_t a_len = fold(name, a);
	size_t b_len = fold(known, b);
	size_t longer = a_len > b_len ? a_len : b_len;
	size_t apart = distance(a, a_len, b, b_len);

	if (apart <= longer / 3)
		return apart;
	if (a_len >= 4 && b_len >= 4 && (strstr(a, b) || strstr(b, a)))
		return NAME_MAX_COMPARED + apart;
	return SIZE_MAX;
}

const char *nearest_name(const char *name, const char *const *names, size_t count)
{
	const char *best = NULL;
	size_t best_score = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t now = score(name, names[i]);

		if (now < best_score) {
			best_score = now;
			best = names[i];
		}
	}
	return best;
}
