/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

static bool bind_symbols(const struct library *library, void *handle, const char *file,
                         void *functions, struct err *err)
{
	for (size_t i = 0; i < library->symbol_count; i++) {
		void *function = dlsym(handle, library->symbols[i].name);

		/* ISO C has no cast from an object pointer to a function pointer; POSIX has. */
		memcpy((char *)functions + library->symbols[i].at, &function, sizeof(function));
		if (!function)
			return err_set(err, ERR_INTERNAL, "%s of this machine has no %s.", file,
			               library->symbols[i].name);
	}
	return true;
}

bool library_load(const struct library *library, void *functions, struct err *err)
{
	void *handle = NULL;
	const char *file = NULL;
	bool ok;

	for (const char *const *at = library->files; !handle && *at; at++) {
		file = *at;
		handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	if (!handle)
		return err_set(err, ERR_INTERNAL,
		               "%s %s, which is not on this machine (on Debian: apt install %s).",
		               library->needed_by, library->files[0], library->package);
	ok = bind_symbols(library, handle, file, functions, err);
	dlclose(handle); /* RTLD_NODELETE keeps it */
	return ok;
}
