/* SPDX-License-Identifier: Apache-2.0 */
/* A URI: what names a path names it in one way, and the path comes back from that. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/offer/offer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *uri = mem_dup((const char *)data, size);
	_cleanup_free_ char *path = NULL, *again = NULL;
	_cleanup_buf_ struct buf canonical = BUF_INIT(4 * LIMIT_PATH_BYTES);
	struct err err = ERR_INIT;

	if (!uri_to_path(uri, &path, &err))
		return 0;
	if (path[0] != '/' || strlen(path) > LIMIT_PATH_BYTES || !uri_from_path(&canonical, path) ||
	    !uri_to_path(canonical.data, &again, &err) || strcmp(path, again) != 0)
		abort();
	return 0;
}
