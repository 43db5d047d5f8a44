/* SPDX-License-Identifier: Apache-2.0 */
/* Rights, and the system calls.  Which rules a plan has is in landlock_rules.c. */
#include "sandbox/apply/landlock.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/landlock_private.h"

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

static uint64_t known(enum landlock_kind kind, unsigned abi, bool files_only)
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
		.files = known(LANDLOCK_KIND_FILES, abi, false) & (worker ? UINT64_MAX : REFER),
		.network = network ? known(LANDLOCK_KIND_NETWORK, abi, false) : 0,
		.scope = known(LANDLOCK_KIND_SCOPE, abi, false),
	};
}

uint64_t landlock_files(unsigned abi, enum sandbox_access access, bool folder, bool device)
{
	uint64_t mask = known(LANDLOCK_KIND_FILES, abi, !folder);

	if (access == SANDBOX_HIDDEN)
		return 0;
	if (access == SANDBOX_READ)
		mask &= EXECUTE | READ_FILE | READ_DIR | (device ? IOCTL_DEV : 0);
	/* Nobody needs new device nodes; ioctl is for terminals. */
	mask &= ~(uint64_t)(MAKE_CHAR | MAKE_BLOCK);
	return device ? mask : mask & ~(uint64_t)IOCTL_DEV;
}

int landlock_create(const struct landlock_handled *handled)
{
	const struct ruleset_attr attr = {
		handled->files, handled->network, handled->scope, { 0 },
	};

	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

bool landlock_add(int ruleset, int place, uint64_t mask)
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
