/* SPDX-License-Identifier: Apache-2.0 */
/* Any file as one with front matter: fields that can be printed and a body within the text, or a
 * sentence. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "catalog/frontmatter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span text = span_of((const char *)data, size);
	struct frontmatter front;
	struct err err = ERR_INIT;

	if (!frontmatter_parse(text, &front, &err)) {
		if (!err.code || !err.message[0])
			abort();
		return 0;
	}
	if (!json_is_object(front.fields) || !json_print(&out, front.fields, 0) ||
	    front.body.len > size)
		abort();
	frontmatter_release(&front);
	return 0;
}
