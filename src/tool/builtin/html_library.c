/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/html_library.h"

#include <pthread.h>
#include <stddef.h>

#include "base/library.h"
#include "base/mem.h"

/* By the ABI that the header of this build belongs to. */
#if LIBXML_VERSION >= 21400
#define LIBRARY "libxml2.so.16"
#else
#define LIBRARY "libxml2.so.2"
#endif

#define ROW(member, name) { name, offsetof(struct html_library, member) }

static const struct library_symbol symbols[] = {
	ROW(init_parser, "xmlInitParser"),
	ROW(create_push_parser, "htmlCreatePushParserCtxt"),
	ROW(use_options, "htmlCtxtUseOptions"),
	ROW(parse_chunk, "htmlParseChunk"),
	ROW(free_parser, "htmlFreeParserCtxt"),
};

static const struct library row = { { LIBRARY }, "Pages in HTML need", "libxml2", symbols,
	                            ARRAY_LEN(symbols) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct html_library loaded;
static struct err load_error;

static void load(void)
{
	if (library_load(&row, &loaded, &load_error))
		loaded.init_parser();
}

const struct html_library *html_library(struct err *err)
{
	pthread_once(&once, load);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}
