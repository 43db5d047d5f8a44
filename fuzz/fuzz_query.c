/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of an array, found in pieces as large as the first byte says, are those that are
 * found in the whole; no array is refused.  And an expression that streams stays as long. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "read/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_pieces(char *text, size_t size, size_t piece, struct query_elements *ret)
{
	size_t at;

	for (size_t i = 0; i < size; i += piece)
		if (!query_elements(ret, text + i, size - i < piece ? size - i : piece, &at))
			return false;
	return true;
}

static bool is_array(const char *text, size_t size)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;
	unsigned line;
	const bool array = json_parse_repeating(span_of(text, size), 100, &value, &line, &err) &&
	                   json_is_array(value);

	json_decref(value);
	return array;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct query_elements whole = { 0 }, parts = { 0 };
	_cleanup_free_ char *one = NULL, *other = NULL, *each = NULL;
	bool ok;

	if (!size)
		return 0;
	one = mem_dup((const char *)data + 1, size - 1);
	other = mem_dup(one, size - 1);
	each = query_streams(one);
	if (each && (strlen(each) != strlen(one) || strncmp(each + strspn(each, " \t\r\n"), ".  ", 3)))
		abort();
	ok = in_pieces(one, size - 1, size, &whole);
	if (in_pieces(other, size - 1, 1 + data[0] % 31, &parts) != ok ||
	    (ok && (memcmp(one, other, size - 1) != 0 || whole.at != parts.at)))
		abort();
	if (is_array((const char *)data + 1, size - 1) && (!ok || whole.at != SPLIT_ENDED))
		abort();
	return 0;
}
