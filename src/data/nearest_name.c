/* SPDX-License-Identifier: Apache-2.0 */
/* The known name that an unknown one most likely stands for. */
#include "data/schema.h"

#include <ctype.h>
#include <stdint.h>

#include "base/text.h"

enum { NAME_MAX_COMPARED = 40 };

/* Letters and digits in lower case; returns how many. */
static size_t name_fold(const char *name, char out[static NAME_MAX_COMPARED + 1])
{
	size_t len = 0;

	for (; *name && len < NAME_MAX_COMPARED; name++)
		if (isalnum((unsigned char)*name))
			out[len++] = (char)tolower((unsigned char)*name);
	out[len] = '\0';
	return len;
}

static size_t least_of_three(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance; two neighbours that changed places are one change. */
static size_t name_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[NAME_MAX_COMPARED + 1], last[NAME_MAX_COMPARED + 1] = { 0 };
	size_t before[NAME_MAX_COMPARED + 1] = { 0 };

	for (size_t j = 0; j <= b_len; j++)
		row[j] = last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		memcpy(before, last, sizeof(before));
		memcpy(last, row, (b_len + 1) * sizeof(*last));
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least_of_three(last[j] + 1, row[j - 1] + 1,
			                        last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return row[b_len];
}

/* How far apart two names are; SIZE_MAX when too far to be meant. */
static size_t name_score(const char *name, const char *known)
{
	char a[NAME_MAX_COMPARED + 1], b[NAME_MAX_COMPARED + 1];
	size_t a_len = name_fold(name, a);
	size_t b_len = name_fold(known, b);
	size_t longer = a_len > b_len ? a_len : b_len;
	size_t apart = name_distance(a, a_len, b, b_len);

	if (apart <= longer / 3)
		return apart;
	if (a_len >= 4 && b_len >= 4 && (strstr(a, b) || strstr(b, a)))
		return NAME_MAX_COMPARED + apart;
	return SIZE_MAX;
}

bool schema_names_alike(const char *name, const char *known)
{
	char a[NAME_MAX_COMPARED + 1], b[NAME_MAX_COMPARED + 1];
	const size_t a_len = name_fold(name, a), b_len = name_fold(known, b);

	return name_distance(a, a_len, b, b_len) <= 1 + (a_len > b_len ? a_len : b_len) / 8;
}

const char *schema_nearest_name(const char *name, const char *const *names, size_t count)
{
	const char *best = NULL;
	size_t best_score = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t now = name_score(name, names[i]);

		if (now < best_score) {
			best_score = now;
			best = names[i];
		}
	}
	return best;
}
