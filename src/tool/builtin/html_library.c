/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/html_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

/* By the ABI that the header of this build belongs to. */
#if LIBXML_VERSION >= 21400
static const char file[] = "libxml2.so.16";
#else
static const char file[] = "libxml2.so.2";
#endif

#define ROW(member, name) { name, offsetof(struct html_library, member) }

static const struct symbol {
	const char *name;
	size_t at; /* its place in struct html_library */
} symbols[] = {
	ROW(init_parser, "xmlInitParser"),
	ROW(create_push_parser, "htmlCreatePushParserCtxt"),
	ROW(use_options, "htmlCtxtUseOptions"),
	ROW(parse_chunk, "htmlParseChunk"),
	ROW(free_parser, "htmlFreeParserCtxt"),
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct html_library loaded;
static struct err load_error;

static bool bind_symbols(void *handle)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *function = dlsym(handle, symbols[i].name);

		/* ISO C has no cast from an object pointer to a function pointer; POSIX has. */
		memcpy((char *)&loaded + symbols[i].at, &function, sizeof(function));
		if (!function)
			return err_set(&load_error, ERR_INTERNAL, "%s of this machine has no %s.",
			               file, symbols[i].name);
	}
	return true;
}

static void load(void)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!handle)
		err_set(&load_error, ERR_INTERNAL,
		        "Pages in HTML need %s, which is not on this machine (on Debian: apt "
		        "install libxml2).",
		        file);
	else if (bind_symbols(handle))
		loaded.init_parser();
	if (handle)
		dlclose(handle); /* RTLD_NODELETE keeps it */
}

const struct html_library *html_library(struct err *err)
{
	pthread_once(&once, load);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}
