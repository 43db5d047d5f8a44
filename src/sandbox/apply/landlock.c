/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: rights, the system calls, and from a plan to rules. */
#include "sandbox/apply/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan/location.h"

#define FILES(bit, abi, on_files, name) \
	{ LANDLOCK_KIND_FILES, (uint64_t)1 << (bit), abi, on_files, name }
#define NETWORK(bit, abi, name) { LANDLOCK_KIND_NETWORK, (uint64_t)1 << (bit), abi, false, name }
#define SCOPE(bit, abi, name) { LANDLOCK_KIND_SCOPE, (uint64_t)1 << (bit), abi, false, name }

static const struct landlock_right rights[] = {
	FILES(0, 1, true, "execute"),
	FILES(1, 1, true, "write_file"),
	FILES(2, 1, true, "read_file"),
	FILES(3, 1, false, "read_dir"),
	FILES(4, 1, false, "remove_dir"),
	FILES(5, 1, false, "remove_file"),
	FILES(6, 1, false, "make_char"),
	FILES(7, 1, false, "make_dir"),
	FILES(8, 1, false, "make_reg"),
	FILES(9, 1, false, "make_sock"),
	FILES(10, 1, false, "make_fifo"),
	FILES(11, 1, false, "make_block"),
	FILES(12, 1, false, "make_sym"),
	FILES(13, 2, false, "refer"),
	FILES(14, 3, true, "truncate"),
	FILES(15, 5, true, "ioctl_dev"),
	FILES(16, 9, true, "resolve_unix"),
	NETWORK(0, 4, "bind_tcp"),
	NETWORK(1, 4, "connect_tcp"),
	NETWORK(2, 10, "bind_udp"),
	NETWORK(3, 10, "connect_send_udp"),
	SCOPE(0, 6, "abstract_unix_socket"),
	SCOPE(1, 6, "signal"),
};

/* By their places in the table. */
enum { EXECUTE = 1 << 0, READ_FILE = 1 << 2, READ_DIR = 1 << 3, MAKE_CHAR = 1 << 6,
       MAKE_BLOCK = 1 << 11, REFER = 1 << 13, IOCTL_DEV = 1 << 15 };

/* landlock_restrict_self(2) */
enum {
	LOG_SAME_EXEC_OFF = 1 << 0,  /* ABI 7: this program's own denials are not logged */
	LOG_NEW_EXEC_ON = 1 << 1,    /* ABI 7: those of what it executes are */
	LOG_SUBDOMAINS_OFF = 1 << 2, /* ABI 7: those of layers made inside are not */
	/* ABI 8 has TSYNC (1 << 3), for all threads: a worker enters before it has a second one.
	 * ABI 10 has QUIET, per rule: an administrator should miss the denials of none. */
};

enum { CREATE_VERSION = 1 << 0, CREATE_ERRATA = 1 << 1, RULE_PATH_BENEATH = 1 };

struct ruleset_attr {
	uint64_t files, network, scope;
	uint64_t quiet[3]; /* ABI 10; zero, which older kernels take */
};

struct path_beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

const struct landlock_right *landlock_rights(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rights);
	return rights;
}

unsigned landlock_abi_here(int *ret_errno)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	if (ret_errno)
		*ret_errno = abi < 0 ? errno : 0;
	return abi < 0 ? 0 : (unsigned)abi;
}

unsigned landlock_errata_here(void)
{
	long errata = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_ERRATA);

	return errata < 0 ? 0 : (unsigned)errata;
}

static uint64_t rights_known_to(enum landlock_kind kind, unsigned abi, bool files_only)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_LEN(rights); i++)
		if (rights[i].kind == kind && rights[i].abi <= abi &&
		    (!files_only || rights[i].on_files))
			mask |= rights[i].bit;
	return mask;
}

struct landlock_handled landlock_handled(const struct sandbox_plan *plan, enum landlock_layer layer)
{
	unsigned abi = plan->landlock_abi;
	bool network, worker = layer == LANDLOCK_LAYER_WORKER;

	if (worker)
		/* The worker of a command connects for it (supervise.h). */
		network = plan->use == SANDBOX_USE_FILES;
	else
		network = !plan->network && !plan->own_network;
	/* A layer always handles REFER, whether it says so or not: one with nothing to say about
	 * files must allow it, or no file could be moved to another folder. */
	return (struct landlock_handled){
		.files = rights_known_to(LANDLOCK_KIND_FILES, abi, false) &
		         (worker ? UINT64_MAX : REFER),
		.network = network ? rights_known_to(LANDLOCK_KIND_NETWORK, abi, false) : 0,
		.scope = rights_known_to(LANDLOCK_KIND_SCOPE, abi, false),
	};
}

uint64_t landlock_files(unsigned abi, enum sandbox_access access, bool folder, bool device)
{
	uint64_t mask = rights_known_to(LANDLOCK_KIND_FILES, abi, !folder);

	if (access == SANDBOX_HIDDEN)
		return 0;
	if (access == SANDBOX_READ)
		mask &= EXECUTE | READ_FILE | READ_DIR | (device ? IOCTL_DEV : 0);
	/* No command needs new device nodes; ioctl is for terminals. */
	mask &= ~(uint64_t)(MAKE_CHAR | MAKE_BLOCK);
	return device ? mask : mask & ~(uint64_t)IOCTL_DEV;
}

/* A ruleset; -1 with errno set. */
static int landlock_create(const struct landlock_handled *handled)
{
	const struct ruleset_attr attr = {
		handled->files, handled->network, handled->scope, { 0 },
	};

	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

/* A rule for `place` and all beneath it; none for an empty mask. False with errno set. */
static bool landlock_add(int ruleset, int place, uint64_t mask)
{
	const struct path_beneath rule = { mask, place };

	return mask == 0 ||
	       syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
}

bool landlock_allow(int ruleset, unsigned abi, int place, enum sandbox_access access)
{
	struct stat st;

	if (ruleset < 0)
		return true;
	/* Rights that only folders have are an error on a file: the same descriptor is asked. */
	if (fstat(place, &st) != 0)
		return false;
	return landlock_add(ruleset, place, landlock_files(abi, access, S_ISDIR(st.st_mode), true));
}

/* The log is the kernel's (audit): what a worker itself is refused is worth an administrator's
 * look; what commands are refused is untrusted and could fill it. */
static unsigned flags_of(unsigned abi, enum landlock_layer layer)
{
	if (abi < 7)
		return 0;
	return layer == LANDLOCK_LAYER_WORKER ? LOG_NEW_EXEC_ON | LOG_SUBDOMAINS_OFF
	                                      : LOG_SAME_EXEC_OFF | LOG_SUBDOMAINS_OFF;
}

bool landlock_enter(int ruleset, unsigned abi, enum landlock_layer layer)
{
	if (ruleset < 0)
		return true;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	return syscall(SYS_landlock_restrict_self, ruleset, flags_of(abi, layer)) == 0;
}

bool landlock_enter_reading(const char *const *folders)
{
	int error = 0;
	const unsigned abi = landlock_abi_here(&error);
	const struct landlock_handled all = {
		.files = rights_known_to(LANDLOCK_KIND_FILES, abi, false),
		.network = rights_known_to(LANDLOCK_KIND_NETWORK, abi, false),
		.scope = rights_known_to(LANDLOCK_KIND_SCOPE, abi, false),
	};
	_cleanup_fd_ int ruleset = -1;

	if (!abi) {
		errno = error;
		return false;
	}
	ruleset = landlock_create(&all);
	if (ruleset < 0)
		return false;
	for (; folders && *folders; folders++) {
		_cleanup_fd_ int place = open(*folders, O_PATH | O_CLOEXEC);

		if (place >= 0 && !landlock_add(ruleset, place, READ_FILE | READ_DIR))
			return false;
	}
	return syscall(SYS_landlock_restrict_self, ruleset,
	               flags_of(abi, LANDLOCK_LAYER_COMMAND)) == 0;
}

/* ---- from a plan to Landlock's rules ---- */

struct rules {
	const struct sandbox_plan *plan;
	int ruleset;
	bool hiding;     /* reading is given to siblings of what is hidden */
	size_t siblings; /* that may still get a rule */
};

/* Sockets are no matter of reading: who may connect is decided elsewhere (supervise.h; ABI 9). */
static bool is_hidden(const struct sandbox_rule *rule)
{
	return rule->access == SANDBOX_HIDDEN && rule->reason != SANDBOX_REASON_SOCKETS;
}

/* Opens what a rule is about. No symlink is followed anywhere: its path is canonical, and if it is
 * not any more, something else would be made accessible. */
static int open_rule_path(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static bool set_rule_error(int sys_errno, const char *path, struct err *err)
{
	if (sys_errno == ENOENT || sys_errno == ELOOP || sys_errno == ENOTDIR)
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "%s, of which the sandbox has a rule, is not there any more", path);
	return err_set_errno(err, sys_errno, "Landlock does not take a rule for %s", path);
}

static bool rules_add_place(struct rules *rules, const char *path, int place,
                            enum sandbox_access access,
                            uint64_t without, bool device, struct err *err)
{
	struct stat st;
	uint64_t mask;

	if (fstat(place, &st) != 0)
		return set_rule_error(errno, path, err);
	mask = landlock_files(rules->plan->landlock_abi, access, S_ISDIR(st.st_mode), device);
	if (!landlock_add(rules->ruleset, place, mask & ~without))
		return set_rule_error(errno, path, err);
	return true;
}

/* The first rule whose path is not below `text` in the order of strcmp. */
static size_t first_from(const struct sandbox_plan *plan, const char *text)
{
	size_t low = 0, high = plan->rule_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(plan->rules[middle].path, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_hidden_beneath(const struct sandbox_plan *plan, const char *path)
{
	_cleanup_free_ char *prefix = location_join(path, "");
	size_t len = strlen(prefix);

	for (size_t i = first_from(plan, prefix);
	     i < plan->rule_count && strncmp(plan->rules[i].path, prefix, len) == 0; i++)
		if (is_hidden(&plan->rules[i]) && plan->rules[i].path[len])
			return true;
	return false;
}

static const struct sandbox_rule *rule_of_path(const struct sandbox_plan *plan, const char *path)
{
	size_t i = first_from(plan, path);

	if (i == plan->rule_count || strcmp(plan->rules[i].path, path) != 0)
		return NULL;
	return &plan->rules[i];
}

/* The rule that decides about what is above `rule`. */
static const struct sandbox_rule *rule_above(const struct sandbox_plan *plan,
                                             const struct sandbox_rule *rule)
{
	_cleanup_free_ char *path = mem_strdup(rule->path);

	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		const struct sandbox_rule *found;

		if (slash == path && !path[1])
			return NULL;
		slash[slash == path] = '\0';
		found = rule_of_path(plan, path);
		if (found)
			return found;
	}
	return NULL;
}

/* Folders in whose entries reading is still to be given; what is on the way to a hidden path, so
 * there are few. */
struct folders {
	char **paths;
	size_t count, cap;
};

static void folders_release(struct folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->paths[i]);
	free(folders->paths);
}

static void folders_push(struct folders *folders, char *path)
{
	folders->paths = mem_grow(folders->paths, &folders->cap, folders->count + 1,
	                          sizeof(*folders->paths));
	folders->paths[folders->count++] = path;
}

/* What reading content takes, of files and of folders alike; listing is given everywhere. */
static uint64_t rights_to_content(const struct rules *rules)
{
	return landlock_files(rules->plan->landlock_abi, SANDBOX_READ, false, false);
}

/* One entry of a folder with something hidden beneath it. What cannot be opened cannot be read. */
static bool give_entry(struct rules *rules, int folder, const char *path, const char *name,
                       struct folders *waiting, struct err *err)
{
	_cleanup_free_ char *child = location_join(path, name);
	const struct sandbox_rule *rule = rule_of_path(rules->plan, child);
	_cleanup_fd_ int fd = -1;

	if (rule && is_hidden(rule))
		return true;
	if (has_hidden_beneath(rules->plan, child)) {
		folders_push(waiting, mem_steal(&child));
		return true;
	}
	/* Neither follows symlinks: a rule for one is a rule for nothing else. */
	fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || landlock_add(rules->ruleset, fd, rights_to_content(rules)))
		return true;
	return set_rule_error(errno, child, err);
}

static bool give_entries(struct rules *rules, const char *path, struct folders *waiting,
                         struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	_cleanup_fd_ int folder = open_rule_path(path);
	int list = folder < 0 ? -1 : openat(folder, ".", flags);
	DIR *dir = list < 0 ? NULL : fdopendir(list);
	struct dirent *entry;
	bool ok = true;

	if (!dir && list >= 0)
		close(list);
	while (ok && dir && rules->siblings && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    entry->d_type == DT_LNK)
			continue;
		rules->siblings--;
		ok = give_entry(rules, folder, path, entry->d_name, waiting, err);
	}
	if (dir)
		closedir(dir);
	return ok;
}

/* Reading of all that is beneath `path` and not hidden. */
static bool give_reading(struct rules *rules, const char *path, struct err *err)
{
	__attribute__((cleanup(folders_release))) struct folders waiting = { 0 };
	_cleanup_fd_ int fd = -1;

	if (rules->hiding && has_hidden_beneath(rules->plan, path)) {
		folders_push(&waiting, mem_strdup(path));
		while (waiting.count) {
			_cleanup_free_ char *next = waiting.paths[--waiting.count];

			if (!give_entries(rules, next, &waiting, err))
				return false;
		}
		return true;
	}
	fd = open_rule_path(path);
	if (fd < 0)
		return set_rule_error(errno, path, err);
	return rules_add_place(rules, path, fd, SANDBOX_READ, 0, false, err);
}

static bool give_listing(struct rules *rules, struct err *err)
{
	_cleanup_fd_ int fd = open_rule_path("/");

	if (fd < 0)
		return set_rule_error(errno, "/", err);
	return rules_add_place(rules, "/", fd, SANDBOX_READ, rights_to_content(rules), false, err);
}

/* A device that no longer exists is left out. */
static bool give_writing(struct rules *rules, const struct sandbox_rule *rule, struct err *err)
{
	bool device = rule->reason == SANDBOX_REASON_DEVICE;
	_cleanup_fd_ int fd = open_rule_path(rule->path);
	uint64_t without = 0;

	if (fd < 0)
		return device || set_rule_error(errno, rule->path, err);
	if (rules->hiding && has_hidden_beneath(rules->plan, rule->path))
		without = rights_to_content(rules);
	return rules_add_place(rules, rule->path, fd, SANDBOX_WRITE, without, device, err);
}

static bool give_rule(struct rules *rules, const struct sandbox_rule *rule, struct err *err)
{
	const struct sandbox_rule *above;

	if (rule->access == SANDBOX_HIDDEN)
		return true;
	above = rule_above(rules->plan, rule);
	/* A readable path below a hidden one is not reached through any other rule. */
	if (rules->hiding && above && is_hidden(above) && !give_reading(rules, rule->path, err))
		return false;
	if (rule->access != SANDBOX_WRITE || (above && above->access == SANDBOX_WRITE))
		return true;
	return give_writing(rules, rule, err);
}

static bool give_all(struct rules *rules, struct err *err)
{
	const struct sandbox_plan *plan = rules->plan;

	for (size_t i = 0; plan->level == SANDBOX_LANDLOCK && i < plan->rule_count; i++)
		rules->hiding = rules->hiding || is_hidden(&plan->rules[i]);
	if (rules->hiding && !give_listing(rules, err))
		return false;
	if (!give_reading(rules, "/", err))
		return false;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (!give_rule(rules, &plan->rules[i], err))
			return false;
	return true;
}

/* All that a layer without rules for files handles of them, everywhere. */
static bool give_everywhere(int ruleset, uint64_t files, struct err *err)
{
	_cleanup_fd_ int fd = open_rule_path("/");

	return (fd >= 0 && landlock_add(ruleset, fd, files)) || set_rule_error(errno, "/", err);
}

bool landlock_prepare(const struct sandbox_plan *plan, enum landlock_layer layer, int *ret,
                      struct err *err)
{
	const struct landlock_handled handled = landlock_handled(plan, layer);
	const bool worker = layer == LANDLOCK_LAYER_WORKER;
	_cleanup_fd_ int ruleset = -1;
	struct rules rules = { .plan = plan, .siblings = LIMIT_SANDBOX_SIBLINGS };

	*ret = -1;
	if (plan->level == SANDBOX_PATHS ||
	    !((worker ? handled.files : 0) | handled.network | handled.scope))
		return true;
	ruleset = rules.ruleset = landlock_create(&handled);
	if (ruleset < 0)
		return err_set_errno(err, errno, "Landlock refuses a ruleset (ABI %u)",
		                     plan->landlock_abi);
	if (worker ? !give_all(&rules, err) : !give_everywhere(ruleset, handled.files, err))
		return false;
	*ret = fd_steal(&ruleset);
	return true;
}
