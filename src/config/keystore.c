/* SPDX-License-Identifier: Apache-2.0 */
/* The key store, asked by a child process that loads libsecret and is ended in time. */
#include "config/home.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libsecret/secret.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"

#define LIBRARY "libsecret-1.so.0"

enum {
	SECRET_BYTES = 65536,
	WAIT_MS = 3000,
	WAIT_FOR_USER_MS = 60000,
};

/* Exit codes of the child. */
enum { CHILD_DONE = 0, CHILD_NOTHING = 1, CHILD_NO_STORE = 2 };

enum action { ACTION_GET, ACTION_SET, ACTION_DELETE };

struct keystore_request {
	enum action action;
	const char *service, *account, *secret;
};

/* --- The child ----------------------------------------------------------------------------- */

static const SecretSchema schema = {
	"org.freedesktop.Secret.Generic",
	SECRET_SCHEMA_NONE,
	{ { "service", SECRET_SCHEMA_ATTRIBUTE_STRING },
	  { "account", SECRET_SCHEMA_ATTRIBUTE_STRING } },
	0, 0, 0, 0, 0, 0, 0, 0,
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX has. */
static bool find_symbol(void *library, const char *name, void *slot)
{
	void *function = dlsym(library, name);

	memcpy(slot, &function, sizeof(function));
	return function != NULL;
}

static int secret_get(void *library, const struct keystore_request *request, int out)
{
	__typeof__(secret_password_lookup_sync) *lookup;
	GError *error = NULL;
	char *secret;

	if (!find_symbol(library, "secret_password_lookup_sync", &lookup))
		return CHILD_NO_STORE;
	secret = lookup(&schema, NULL, &error, "service", request->service, "account",
	                request->account, NULL);
	if (!secret)
		return error ? CHILD_NO_STORE : CHILD_NOTHING;
	return strlen(secret) <= SECRET_BYTES && fd_write_all(out, secret, strlen(secret))
	               ? CHILD_DONE
	               : CHILD_NOTHING;
}

static int secret_set(void *library, const struct keystore_request *request)
{
	__typeof__(secret_password_store_sync) *store;
	_cleanup_free_ char *label = mem_printf("%s/%s", request->service, request->account);
	GError *error = NULL;

	if (!find_symbol(library, "secret_password_store_sync", &store))
		return CHILD_NO_STORE;
	return store(&schema, SECRET_COLLECTION_DEFAULT, label, request->secret, NULL, &error,
	             "service", request->service, "account", request->account, NULL)
	               ? CHILD_DONE
	               : CHILD_NO_STORE;
}

static int delete(void *library, const struct keystore_request *request)
{
	__typeof__(secret_password_clear_sync) *clear;
	GError *error = NULL;

	if (!find_symbol(library, "secret_password_clear_sync", &clear))
		return CHILD_NO_STORE;
	clear(&schema, NULL, &error, "service", request->service, "account", request->account,
	      NULL);
	return error ? CHILD_NO_STORE : CHILD_DONE;
}

/* Nothing of the parent's is used or touched: not its output, not its signals. */
_Noreturn static void keystore_child(const struct keystore_request *request, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;
	void *library;
	int code = CHILD_NO_STORE;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; null >= 0 && i <= 2; i++)
		dup2(null, i);
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (library && request->action == ACTION_GET)
		code = secret_get(library, request, out);
	else if (library)
		code = request->action == ACTION_SET ? secret_set(library, request)
		                                     : delete(library, request);
	_exit(code);
}

/* --- The parent ---------------------------------------------------------------------------- */

/* Without a bus D-Bus would start one, or a display server's. */
static bool has_bus(void)
{
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *files = getenv("GEMINI_FORCE_FILE_STORAGE");
	_cleanup_free_ char *socket = NULL;
	struct stat st;

	if (files && strcmp(files, "true") == 0)
		return false;
	if (address && *address)
		return true;
	socket = runtime && *runtime ? mem_printf("%s/bus", runtime) : NULL;
	return socket && stat(socket, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int time_limit(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland) ? WAIT_FOR_USER_MS : WAIT_MS;
}

/* Reads until the child closes its end; false: time is up. */
static bool read_child_answer(int fd, char *answer, size_t *len)
{
	int64_t end = clock_monotonic_ms() + time_limit();

	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int64_t left = end - clock_monotonic_ms();
		ssize_t got;

		if (left <= 0)
			return false;
		if (poll(&wait, 1, (int)left) <= 0)
			continue;
		got = read(fd, answer + *len, SECRET_BYTES + 1 - *len);
		if (got > 0)
			*len += (size_t)got;
		else if (!got || errno != EINTR)
			return got == 0;
	}
}

static int end_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CHILD_NO_STORE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_NO_STORE;
}

/* `answer` has room for SECRET_BYTES + 1. */
static int ask_child(const struct keystore_request *request, char *answer, size_t *len)
{
	int ends[2], code;
	pid_t pid;

	*len = 0;
	if (!has_bus() || pipe2(ends, O_CLOEXEC) < 0)
		return CHILD_NO_STORE;
	pid = fork();
	if (!pid)
		keystore_child(request, ends[1]);
	close(ends[1]);
	if (pid > 0 && !read_child_answer(ends[0], answer, len))
		kill(pid, SIGKILL);
	close(ends[0]);
	code = pid > 0 ? end_of(pid) : CHILD_NO_STORE;
	return *len > SECRET_BYTES ? CHILD_NOTHING : code;
}

bool keystore_get(const char *service, const char *account, char **ret)
{
	const struct keystore_request request = { ACTION_GET, service, account, NULL };
	_cleanup_free_ char *answer = mem_alloc(1, SECRET_BYTES + 1);
	size_t len;
	bool found = ask_child(&request, answer, &len) == CHILD_DONE && len;

	if (found)
		*ret = mem_dup(answer, len);
	explicit_bzero(answer, SECRET_BYTES + 1);
	return found;
}

static bool order_change(const struct keystore_request *request, struct err *err)
{
	_cleanup_free_ char *answer = mem_alloc(1, SECRET_BYTES + 1);
	size_t len;

	if (request->secret && strlen(request->secret) > SECRET_BYTES)
		return err_set(err, ERR_INVALID_ARGUMENT, "A secret has at most %d bytes.",
		               SECRET_BYTES);
	if (ask_child(request, answer, &len) == CHILD_DONE)
		return true;
	return err_set(err, ERR_FILE_NOT_FOUND, "The system has no key store that answers.");
}

bool keystore_set(const char *service, const char *account, const char *secret, struct err *err)
{
	return order_change(&(struct keystore_request){ ACTION_SET, service, account, secret },
	                    err);
}

bool keystore_delete(const char *service, const char *account, struct err *err)
{
	return order_change(&(struct keystore_request){ ACTION_DELETE, service, account, NULL },
	                    err);
}

bool keystore_gemini_key(char **ret)
{
	struct err err = ERR_INIT;
	const char *key;
	char *stored;
	json_t *value;
	bool ok;

	if (!keystore_get(KEYSTORE_GEMINI_SERVICE, KEYSTORE_GEMINI_ACCOUNT, &stored))
		return false;
	ok = json_parse_depth(span_str(stored), 8, &value, &err);
	explicit_bzero(stored, strlen(stored));
	free(stored);
	if (!ok)
		return false;
	key = json_string_value(json_object_get(json_object_get(value, "token"), "accessToken"));
	if (key && *key)
		*ret = mem_strdup(key);
	ok = key && *key;
	json_decref(value);
	return ok;
}
