/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/report/report.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/plan/location.h"
#include "sandbox/plan/names.h"

/* A string of SBPL, with its quotes: what `text` holds cannot end it. */
static void seatbelt_quote(struct buf *out, const char *text)
{
	buf_char(out, '"');
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_char(out, *at);
	}
	buf_char(out, '"');
}

/* (verb operations (filter "path")) */
static void rule(struct buf *out, const char *verb_and_operations, bool folder, const char *path)
{
	buf_printf(out, "(%s (%s ", verb_and_operations, folder ? "subpath" : "literal");
	seatbelt_quote(out, path);
	buf_str(out, "))\n");
}

/* Hidden entries of a home folder (plan.h) but those that are open: `pattern` is "HOME/.*".  An
 * allow behind a deny would not do: the last rule that matches decides, also for what is protected
 * in an open entry. */
static void deny_hidden_entries(struct buf *out, const char *pattern)
{
	_cleanup_free_ char *home = path_folder(pattern);

	buf_str(out, "(deny file-write* (require-all (regex #\"^");
	for (const char *at = pattern; at[0] != '.' || at[1] != '*' || at[2]; at++) {
		if (!isalnum((unsigned char)*at) && *at != '/')
			buf_char(out, '\\');
		buf_char(out, *at);
	}
	buf_str(out, "\\.\")");
	for (size_t i = 0; names_open_entry(i); i++) {
		_cleanup_free_ char *path = location_join(home, names_open_entry(i));

		buf_str(out, " (require-not (subpath ");
		seatbelt_quote(out, path);
		buf_str(out, "))");
	}
	buf_str(out, "))\n");
}

/* What every program needs; what is not here is denied. */
static const char base[] =
	"(version 1)\n"
	"(deny default)\n"
	"(allow process-exec)\n"
	"(allow process-info* (target same-sandbox))\n"
	"(allow signal (target same-sandbox))\n"
	"(allow sysctl-read)\n"
	"(allow mach-lookup\n"
	"  (global-name \"com.apple.system.opendirectoryd.libinfo\")\n"
	"  (global-name \"com.apple.system.opendirectoryd.membership\")\n"
	"  (global-name \"com.apple.system.notification_center\"))\n";

static const char for_commands[] =
	"(allow process-fork)\n"
	"(allow ipc-posix-sem)\n"
	"(allow ipc-posix-shm)\n"
	"(allow pseudo-tty)\n"
	"(allow file-ioctl (literal \"/dev/ptmx\") (literal \"/dev/tty\")\n"
	"  (regex #\"^/dev/ttys[0-9]+$\"))\n";

static const char reading[] = "(allow file-read*)\n";

/* The machine may be another than the plan was made on: its devices have these names there. */
static const char devices[] =
	"(allow file-write-data\n"
	"  (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\")\n"
	"  (literal \"/dev/ptmx\") (literal \"/dev/dtracehelper\")\n"
	"  (regex #\"^/dev/ttys[0-9]+$\"))\n";

static const char network_on[] =
	"(allow network*)\n"
	"(allow system-socket)\n"
	"(allow mach-lookup\n"
	"  (global-name \"com.apple.SystemConfiguration.configd\")\n"
	"  (global-name \"com.apple.SystemConfiguration.DNSConfiguration\")\n"
	"  (global-name \"com.apple.trustd.agent\")\n"
	"  (global-name \"com.apple.networkd\"))\n"
	"(deny network* (remote unix-socket))\n"
	"(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n";

static void profile_put_rule(const struct sandbox_rule *of, struct buf *out)
{
	switch (of->access) {
	case SANDBOX_HIDDEN:
		rule(out, "deny file-read* file-write*", of->folder, of->path);
		break;
	case SANDBOX_READ:
		rule(out, "allow file-read*", of->folder, of->path);
		rule(out, "deny file-write*", of->folder, of->path);
		break;
	case SANDBOX_WRITE:
		rule(out, "allow file-read* file-write*", of->folder, of->path);
		break;
	}
}

static void put_home(const struct sandbox_plan *plan, const char *home, struct buf *out)
{
	struct sandbox_names names = names_macos();

	for (size_t i = 0; home && i < names.count; i++) {
		_cleanup_free_ char *path = location_join(home, names.rows[i].path);
		bool opened = false;

		/* Unless the plan has a rule for exactly this path: then the user named it. */
		for (size_t k = 0; k < plan->rule_count; k++)
			opened = opened || strcmp(plan->rules[k].path, path) == 0;
		if (!opened)
			rule(out, "deny file-read* file-write*", true, path);
	}
}

static void put_network(const struct sandbox_plan *plan, struct buf *out)
{
	if (plan->use != SANDBOX_USE_COMMAND)
		return;
	if (plan->network)
		buf_str(out, network_on);
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *of = &plan->rules[i];

		if (of->access != SANDBOX_WRITE || of->reason == SANDBOX_REASON_DEVICE)
			continue;
		buf_str(out, "(allow network-bind (local unix-socket (subpath ");
		seatbelt_quote(out, of->path);
		buf_str(out, ")))\n(allow network-outbound (remote unix-socket (subpath ");
		seatbelt_quote(out, of->path);
		buf_str(out, ")))\n");
	}
}

void seatbelt_profile(const struct sandbox_plan *plan, const char *home, struct buf *out)
{
	buf_str(out, base);
	if (plan->use == SANDBOX_USE_COMMAND)
		buf_str(out, for_commands);
	buf_str(out, reading);
	buf_str(out, devices);
	put_home(plan, home, out);
	for (size_t i = 0; i < plan->rule_count; i++)
		profile_put_rule(&plan->rules[i], out);
	/* Writable folders that have a rule keep their names: neither renamed nor removed. */
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].access == SANDBOX_WRITE && plan->rules[i].folder)
			rule(out, "deny file-write-unlink", false, plan->rules[i].path);
	for (size_t i = 0; i < plan->absent_count; i++)
		if (strcmp(strrchr(plan->absent[i].path, '/'), "/.*") == 0)
			deny_hidden_entries(out, plan->absent[i].path);
		else
			rule(out, "deny file-write*", true, plan->absent[i].path);
	put_network(plan, out);
}
