/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that run other commands: their options read, and the table of them. */
#include "shell/private.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

void wrapper_options_begin(struct options *options, const struct shell_word *words, size_t count,
                           const struct shell_wrapper *wrapper)
{
	*options = (struct options){ .words = words, .count = count, .wrapper = wrapper, .at = 1 };
}

/* The next word is the option's value. */
static void options_take_value(struct options *options)
{
	if (options->at >= options->count)
		return;
	options->value = options->words[options->at++];
	options->has_value = true;
	options->dynamic |= options->value.splits;
}

/* What stands in the word after the option is its value. */
static void take_rest(struct options *options, const struct shell_word *word, size_t from)
{
	options->value = *word;
	options->value.value = span_skip(word->value, from);
	options->has_value = true;
}

/* The row of a long option in the list: the exact name, or the only one that it abbreviates. Its
 * kind is ':', '?' or ' '; 0 when there is none. */
static char options_find_long(const char *list, struct span name, struct span *ret_name)
{
	char found = 0;

	while (*list) {
		size_t len = strcspn(list, " :?");
		struct span row = span_of(list, len);
		char kind = list[len] == ':' || list[len] == '?' ? list[len] : ' ';

		if (span_eq(row, name) || (span_starts(row, name) && !found)) {
			found = kind;
			*ret_name = row;
			if (span_eq(row, name))
				break;
		}
		list += len;
		list += strspn(list, " :?");
	}
	return found;
}

static void options_read_long(struct options *options, const struct shell_word *word)
{
	struct span text = span_skip(word->value, 2);
	const char *equals = span_find(text, '=');
	struct span name = equals ? span_head(text, (size_t)(equals - text.data)) : text;
	char kind = name.len ? options_find_long(options->wrapper->longs, name, &options->name) : 0;

	if (word->dynamic && !equals)
		options->dynamic = true;
	if (!kind) {
		options->unknown = true;
		options->name = name;
	}
	if (equals)
		take_rest(options, word, 2 + name.len + 1);
	else if (kind == ':')
		options_take_value(options);
}

/* The kind of a letter: ':', '?', ' ', or 0. */
static char letter_kind(const char *letters, char letter)
{
	const char *found = letter && letter != ':' && letter != '?' ? strchr(letters, letter)
	                                                             : NULL;

	if (!found)
		return 0;
	return found[1] == ':' || found[1] == '?' ? found[1] : ' ';
}

/* One letter of a cluster. */
static void options_read_letter(struct options *options)
{
	const struct shell_word *word = &options->words[options->at];
	size_t next = options->in_word + 1;
	bool last = next >= word->value.len && !word->dynamic;
	char kind;

	options->letter = word->value.data[options->in_word];
	kind = letter_kind(options->wrapper->letters, options->letter);
	options->unknown |= !kind;
	options->in_word = next;
	/* In shells -o takes the next word, wherever it stands among the letters. */
	if (kind == ':' && options->wrapper->rest == REST_SHELL) {
		options->pending++;
		kind = ' ';
	}
	if (next < word->value.len && (kind == ' ' || !kind))
		return;
	options->in_word = 0;
	options->at++;
	if (kind == ' ' || !kind) {
		options->dynamic |= word->dynamic != 0;
		/* -oo: of two values the caller would see one. */
		options->unknown |= options->pending > 1;
		for (; options->pending > 0; options->pending--)
			options_take_value(options);
	} else if (!last) {
		take_rest(options, word, next);
		options->dynamic |= word->splits;
	} else if (kind == ':') {
		options_take_value(options);
	}
}

static bool is_digits(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len > 0;
}

/* A word that begins with - or +: takes it for options; false when it is an operand. */
static bool read_option_word(struct options *options, const struct shell_word *word)
{
	if (word->value.len == 1) {
		options->dynamic |= word->dynamic != 0;
		if (!(options->wrapper->traits & TRAIT_SPLIT))
			return false;
		options->at++; /* env -: an option */
	} else if (span_eq(word->value, SPAN("--")) && !word->dynamic) {
		options->at++;
		options->ended = true;
		return false;
	} else if (options->wrapper->traits & TRAIT_DIGITS &&
	           is_digits(span_skip(word->value, 1))) {
		options->at++;
	} else if (span_starts(word->value, SPAN("--"))) {
		options->at++;
		options_read_long(options, word);
	} else {
		options->in_word = 1;
		options_read_letter(options);
	}
	return true;
}

bool wrapper_options_next(struct options *options)
{
	const struct shell_word *word;

	options->letter = 0;
	options->name = span_of("", 0);
	options->has_value = false;
	if (options->in_word > 0) {
		options_read_letter(options);
		return true;
	}
	if (options->at >= options->count || options->ended)
		return false;
	word = &options->words[options->at];
	options->dynamic |= word->splits;
	if (word->value.len == 0) {
		/* It may become anything, an option too; an empty word is an operand. */
		options->dynamic |= word->dynamic != 0;
		return false;
	}
	if (word->value.data[0] != '-' &&
	    !(word->value.data[0] == '+' && options->wrapper->traits & TRAIT_PLUS))
		return false;
	return read_option_word(options, word);
}

/* ---- the table of wrappers -------------------------------------------------------- */

#define SHELL_LETTERS "abcefhiklmnprstuvxBCDEHPTo:O:"
#define SHELL_LONGS                                                                          \
	"login posix norc noprofile restricted verbose version help noediting debugger "     \
	"dump-po-strings dump-strings debug pretty-print? wordexp rcfile: init-file:"
#define SHELL_ROW(shell) { shell, SHELL_LETTERS, SHELL_LONGS, REST_SHELL, 0, TRAIT_PLUS }

#define ARCH_LETTERS "BFILRSTXZhV3v"
#define ARCH_LONGS                                                                           \
	"32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize "             \
	"whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 "  \
	"verbose list show? help version"
#define ARCH_ROW(arch) { arch, ARCH_LETTERS, ARCH_LONGS, REST_COMMAND, 0, 0 }

#define LOADER_LONGS                                                                         \
	"list list-tunables list-diagnostics verify inhibit-cache inhibit-rpath: "           \
	"library-path: glibc-hwcaps-prepend: glibc-hwcaps-mask: audit: preload: argv0: help version"
#define LOADER_ROW(loader) { loader, "", LOADER_LONGS, REST_COMMAND, 0, 0 }

static const struct shell_wrapper wrappers[] = {
	{ "env", "i0u:C:S:vP:L:U:",
	  "ignore-environment null unset: chdir: split-string: debug argv0: block-signal? "
	  "default-signal? ignore-signal? list-signal-handling help version",
	  REST_COMMAND, 0, TRAIT_ASSIGNMENTS | TRAIT_SPLIT },
	{ "sudo", "AbBC:D:eEg:h:HiKklnNp:PR:r:sST:t:U:u:vVc:a:",
	  "askpass background bell close-from: chdir: edit preserve-env? group: host: login "
	  "set-home list non-interactive no-update preserve-groups prompt: chroot: role: stdin "
	  "shell type: command-timeout: other-user: user: validate reset-timestamp "
	  "remove-timestamp help version",
	  REST_COMMAND, 0, TRAIT_ASSIGNMENTS | TRAIT_JOINED_S },
	{ "doas", "a:C:Lnsu:", "", REST_COMMAND, 0, TRAIT_OWN_SHELL },
	{ "pkexec", "", "user: keep-cwd disable-internal-agent help version", REST_COMMAND, 0, 0 },
	{ "run0", "iu:g:D:", "user: group: nice: chdir: setenv: background: unit: description: "
	  "slice: slice-inherit property: machine: pty pipe no-ask-password shell-prompt-prefix: "
	  "lightweight: help version", REST_COMMAND, 0, TRAIT_OWN_SHELL },
	{ "nice", "n:", "adjustment: help version", REST_COMMAND, 0, TRAIT_DIGITS },
	{ "ionice", "c:n:p:P:u:thV", "class: classdata: pid: pgid: uid: ignore help version",
	  REST_COMMAND, 0, 0 },
	{ "nohup", "", "help version", REST_COMMAND, 0, 0 },
	{ "timeout", "fk:ps:v",
	  "foreground kill-after: preserve-status signal: verbose help version", REST_COMMAND, 1,
	  TRAIT_NUMBER },
	{ "stdbuf", "i:o:e:", "input: output: error: help version", REST_COMMAND, 0, 0 },
	{ "setsid", "cfwhV", "ctty fork wait help version", REST_COMMAND, 0, 0 },
	{ "setpriv", "hdV",
	  "dump no-new-privs clear-groups keep-groups init-groups groups: inh-caps: ambient-caps: "
	  "bounding-set: ruid: euid: rgid: egid: reuid: regid: list-caps securebits: pdeathsig: "
	  "selinux-label: apparmor-profile: reset-env landlock-access: landlock-rule: "
	  "seccomp-filter: help version",
	  REST_COMMAND, 0, 0 },
	{ "setarch", ARCH_LETTERS, ARCH_LONGS, REST_COMMAND, 0, 0 },
	ARCH_ROW("linux32"), ARCH_ROW("linux64"), ARCH_ROW("x86_64"), ARCH_ROW("i386"),
	ARCH_ROW("i686"), ARCH_ROW("aarch64"), ARCH_ROW("uname26"),
	{ "time", "af:o:pqvV",
	  "append format: output: portability quiet verbose help version", REST_COMMAND, 0,
	  TRAIT_ASSIGNMENTS | TRAIT_KEYWORD },
	{ "command", "pvV", "", REST_COMMAND, 0, TRAIT_NO_RUN },
	{ "builtin", "", "", REST_COMMAND, 0, 0 },
	{ "exec", "a:cl", "", REST_COMMAND, 0, 0 },
	{ "noglob", "", "", REST_COMMAND, 0, 0 },
	{ "nocorrect", "", "", REST_COMMAND, 0, 0 },
	{ "busybox", "", "list list-full install? help", REST_COMMAND, 0, 0 },
	{ "toybox", "", "long help version", REST_COMMAND, 0, 0 },
	{ "chroot", "", "groups: userspec: skip-chdir help version", REST_COMMAND, 1,
	  TRAIT_OWN_SHELL | TRAIT_PLACE },
	{ "unshare", "mnuipUTCcrR:S:G:w:l:hVf",
	  "mount? net? uts? ipc? pid? user? time? cgroup? fork map-user: map-group: map-root-user "
	  "map-current-user map-auto map-users: map-groups: map-subids owner: kill-child? "
	  "mount-proc? mount-binfmt? propagation: setgroups: keep-caps root: wd: setuid: setgid: "
	  "monotonic: boottime: load-interp: forward-signals help version",
	  REST_COMMAND, 0, TRAIT_OWN_SHELL },
	{ "nsenter", "at:m?n?u?i?p?U?C?T?r?w?W:FS:G:ehZVN:",
	  "all target: mount? net? uts? ipc? pid? user? user-parent cgroup? time? root? wd? wdns: "
	  "no-fork setuid: setgid: preserve-credentials keep-caps env follow-context "
	  "join-cgroup net-socket: help version",
	  REST_COMMAND, 0, TRAIT_OWN_SHELL },
	{ "prlimit", "p:o:hVc?d?e?f?i?l?m?n?q?r?s?t?u?v?x?y?",
	  "pid: output: noheadings raw verbose core? data? nice? fsize? sigpending? memlock? rss? "
	  "nofile? msgqueue? rtprio? stack? cpu? nproc? as? locks? rttime? help version",
	  REST_COMMAND, 0, 0 },
	{ "taskset", "acphV", "all-tasks pid cpu-list help version", REST_COMMAND, 1,
	  TRAIT_NUMBER },
	{ "chrt", "abdfioprmvhVT:P:D:R",
	  "all-tasks batch deadline fifo idle other pid rr max verbose sched-runtime: "
	  "sched-period: sched-deadline: reset-on-fork help version",
	  REST_COMMAND, 1, TRAIT_NUMBER },
	{ "choom", "n:p:hV", "adjust: pid: help version", REST_COMMAND, 0, 0 },
	{ "ssh-agent", "Dda:E:kO:P:st:cTuU", "", REST_COMMAND, 0, 0 },
	{ "faketime", "fmp:", "exclude-monotonic date-prog: pid: help version", REST_COMMAND, 1,
	  0 },
	{ "gosu", "", "help version", REST_COMMAND, 1, TRAIT_OWN_SHELL },
	{ "su-exec", "", "", REST_COMMAND, 1, 0 },
	{ "setuidgid", "s", "", REST_COMMAND, 1, 0 },
	{ "daemonize", "ac:e:E:l:o:p:u:v", "", REST_COMMAND, 0, 0 },
	LOADER_ROW("ld.so"), LOADER_ROW("ld-linux-x86-64.so.2"), LOADER_ROW("ld-linux.so.2"),
	LOADER_ROW("ld-linux-aarch64.so.1"),
	{ "numactl", "aN:C:m:i:p:P:w:lsHbcno:",
	  "all cpunodebind: physcpubind: membind: interleave: preferred: preferred-many: "
	  "weighted-interleave: localalloc show hardware balancing version help",
	  REST_COMMAND, 0, 0 },
	{ "strace", "a:b:cCdDe:E:fFhI:iknNo:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ",
	  "help version abbrev: attach: column: const-print-style: decode-fds? "
	  "daemonized? debug detach-on: env: failed-only failing-only fault: follow-forks "
	  "inject: instruction-pointer interruptible: kvm? output: output-append-mode "
	  "output-separately quiet? raw: read: relative-timestamps? seccomp-bpf "
	  "secontext? signals: silence? stack-traces? status: string-limit: "
	  "strings-in-hex? successful-only summary summary-only summary-columns: "
	  "summary-sort-by: summary-syscall-overhead: summary-wall-clock syscall-limit: "
	  "syscall-times? timestamps? tips? trace: trace-path: user: verbose: write:",
	  REST_COMMAND, 0, TRAIT_ASSIGNMENTS },
	{ "ltrace", "a:A:bcCD:e:fF:hiL:l:n:o:p:rs:StTu:Vw:x:",
	  "align: config: debug: demangle indent: library: output: no-signals where: help version",
	  REST_COMMAND, 0, 0 },
	{ "valgrind", "dhqv",
	  "help version quiet verbose tool? log-file? leak-check? show-leak-kinds? track-origins? "
	  "error-exitcode? num-callers? suppressions? gen-suppressions? trace-children? track-fds? "
	  "undef-value-errors? errors-for-leak-kinds? read-var-info?", REST_COMMAND, 0, 0 },
	{ "entr", "acdnprsxz", "", REST_COMMAND, 0, 0 },
	{ "cpulimit", "l:p:e:P:b:m:zivfh", "limit: pid: exe: path: monitor-forks include-children "
	  "background foreground lazy verbose help", REST_COMMAND, 0, 0 },
	{ "catchsegv", "", "help version", REST_COMMAND, 0, 0 },
	{ "fakeroot", "l:f:i:s:ub:hv", "lib: faked: fd-base: help version unknown-is-real",
	  REST_COMMAND, 0, TRAIT_OWN_SHELL },
	{ "eatmydata", "", "", REST_COMMAND, 0, 0 },
	{ "proxychains", "qf:", "", REST_COMMAND, 0, 0 },
	{ "proxychains4", "qf:", "", REST_COMMAND, 0, 0 },
	{ "torsocks", "du:p:ia:Pq", "user: pass: isolate address: port: quiet debug shell",
	  REST_COMMAND, 0, 0 },
	{ "dbus-run-session", "", "config-file: dbus-daemon: help version", REST_COMMAND, 0, 0 },
	{ "xvfb-run", "ae:f:hn:lp:s:w:",
	  "auto-servernum error-file: auth-file: help server-num: listen-tcp xauth-protocol: "
	  "server-args: wait:", REST_COMMAND, 0, 0 },
	{ "systemd-run", "H:M:p:rdE:PtGqSu:",
	  "scope user system unit: property: description: slice: slice-inherit expand-environment? "
	  "remain-after-exit send-sighup service-type: uid: gid: nice: working-directory: "
	  "same-dir setenv: pty pipe quiet collect wait shell on-active: on-boot: on-startup: "
	  "on-unit-active: on-unit-inactive: on-calendar: host: machine: no-block "
	  "no-ask-password help version", REST_COMMAND, 0, TRAIT_OWN_SHELL },
	{ "cgexec", "g:", "sticky", REST_COMMAND, 0, 0 },
	{ "runcon", "ct:u:r:l:", "compute type: user: role: range: help version", REST_COMMAND, 1,
	  0 },
	{ "unbuffer", "p", "", REST_COMMAND, 0, 0 },
	{ "rlwrap", "", "", REST_COMMAND, 0, 0 },
	{ "script", "aB:c:eE:fI:m:o:O:qt?T:hV",
	  "append log-io: command: return echo: flush log-in: logging-format: output-limit: "
	  "log-out: quiet timing? log-timing: force help version",
	  REST_SCRIPT_C, 0, TRAIT_PERMUTES | TRAIT_OWN_SHELL },
	{ "su", "c:flmpPs:g:G:w:ThV",
	  "command: session-command: fast login preserve-environment pty no-pty shell: group: "
	  "supp-group: whitelist-environment: help version",
	  REST_SCRIPT_C, 0, TRAIT_PERMUTES | TRAIT_OWN_SHELL },
	{ "runuser", "c:flmpPs:g:G:w:u:hV",
	  "command: session-command: fast login preserve-environment pty shell: group: "
	  "supp-group: whitelist-environment: user: help version",
	  REST_SCRIPT_C, 0, TRAIT_PERMUTES | TRAIT_OWN_SHELL },
	{ "flock", "exsuonFw:E:hV",
	  "exclusive shared unlock nonblock nb timeout: wait: conflict-exit-code: close "
	  "no-fork verbose fcntl start: length: help version",
	  REST_FLOCK, 1, 0 },
	{ "watch", "bcCdegn:pq:rtwxhvs:f",
	  "beep color no-color differences? errexit chgexit equexit: interval: precise no-rerun "
	  "no-title no-wrap exec shotsdir: follow help version",
	  REST_JOINED, 0, TRAIT_EXEC },
	{ "eval", "", "", REST_JOINED, 0, 0 },
	{ "xargs", "0a:d:E:e?I:i?L:l?n:P:prs:S:R:J:txo",
	  "null arg-file: delimiter: eof? replace? max-lines? max-args: max-procs: "
	  "process-slot-var: interactive no-run-if-empty max-chars: show-limits verbose exit "
	  "open-tty help version",
	  REST_XARGS, 0, 0 },
	{ "parallel", "j:kmXn:N:L:I:a:d:E:0S:P:vtuqvhV",
	  "jobs: keep-order max-args: max-replace-args: max-lines: arg-file: delimiter: null "
	  "halt: progress bar eta dry-run verbose linebuffer line-buffer group ungroup tag joblog: "
	  "resume retries: timeout: delay: load: memfree: pipe block: colsep: will-cite "
	  "no-run-if-empty header: results: tmpdir: quote max-procs: semaphore wait nice: "
	  "shuf lb citation help version",
	  REST_PARALLEL, 0, 0 },
	{ "find", "", "", REST_FIND, 0, 0 },
	{ "trap", "lp", "", REST_TRAP, 0, 0 },
	{ "ssh", "46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:MNnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", "",
	  REST_REMOTE, 1, 0 },
	SHELL_ROW("sh"), SHELL_ROW("bash"), SHELL_ROW("dash"), SHELL_ROW("ash"),
	SHELL_ROW("ksh"), SHELL_ROW("mksh"), SHELL_ROW("zsh"), SHELL_ROW("rbash"),
	SHELL_ROW("yash"), SHELL_ROW("posh"), SHELL_ROW("lksh"), SHELL_ROW("ksh93"),
	{ "fish", "c:C:iln:No:p:Pd:D:f:hv",
	  "command: init-command: interactive login no-config no-execute private debug: "
	  "debug-output: profile: profile-startup: features: help version",
	  REST_SCRIPT_C, 0, TRAIT_PERMUTES | TRAIT_OWN_SHELL },
};

const struct shell_wrapper *wrapper_find(struct span base)
{
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (span_eq(base, span_str(wrappers[i].name)))
			return &wrappers[i];
	return NULL;
}

static const struct option_row option_rows[] = {
	{ "sh", 'i', "", EFFECT_SOURCED },
	{ "sh", 'l', "login", EFFECT_SOURCED },
	{ "sh", 0, "rcfile", EFFECT_SOURCED },
	{ "sh", 0, "init-file", EFFECT_SOURCED },
	{ "sh", 0, "debugger", EFFECT_SOURCED },
	{ "sh", 0, "posix", EFFECT_READING },
	{ "sh", 'k', "", EFFECT_READING },
	{ "sh", 'B', "", EFFECT_READING },
	{ "sh", 'H', "", EFFECT_READING },
	{ "sh", 'O', "", EFFECT_READING },
	{ "sh", 'o', "", EFFECT_MODE },
	{ "xargs", 0, "process-slot-var", EFFECT_VARIABLE },
	{ "strace", 'E', "env", EFFECT_VARIABLE },
	{ "strace", 'o', "output", EFFECT_PIPED },
	{ "run0", 0, "setenv", EFFECT_VARIABLE },
	{ "systemd-run", 'E', "setenv", EFFECT_VARIABLE },
	{ "systemd-run", 'p', "property", EFFECT_PLACE },
	{ "run0", 0, "property", EFFECT_PLACE },
	{ "run0", 0, "machine", EFFECT_PLACE },
	{ "systemd-run", 'M', "machine", EFFECT_PLACE },
	{ "systemd-run", 'H', "host", EFFECT_PLACE },
	{ "daemonize", 'E', "", EFFECT_VARIABLE },
	{ "sudo", 'R', "chroot", EFFECT_PLACE },
	{ "sudo", 'i', "login", EFFECT_SOURCED },
	{ "unshare", 'R', "root", EFFECT_PLACE },
	{ "unshare", 0, "load-interp", EFFECT_PLACE },
	{ "nsenter", 'a', "all", EFFECT_PLACE },
	{ "nsenter", 'm', "mount", EFFECT_PLACE },
	{ "nsenter", 'r', "root", EFFECT_PLACE },
	{ "nsenter", 'e', "env", EFFECT_PLACE },
	{ "ld.so", 0, "preload", EFFECT_PLACE },
	{ "ld.so", 0, "library-path", EFFECT_PLACE },
	{ "ld.so", 0, "audit", EFFECT_PLACE },
	{ "ld.so", 0, "glibc-hwcaps-prepend", EFFECT_PLACE },
	{ "fakeroot", 'l', "lib", EFFECT_PLACE },
	{ "fakeroot", 'f', "faked", EFFECT_PROGRAM },
	{ "faketime", 0, "date-prog", EFFECT_PROGRAM },
	{ "dbus-run-session", 0, "dbus-daemon", EFFECT_PROGRAM },
	{ "dbus-run-session", 0, "config-file", EFFECT_PLACE },
	{ "ltrace", 'F', "config", EFFECT_PLACE },
	{ "proxychains", 'f', "", EFFECT_PLACE },
	{ "proxychains4", 'f', "", EFFECT_PLACE },
	{ "su", 's', "shell", EFFECT_PROGRAM },
	{ "su", 'l', "login", EFFECT_SOURCED },
	{ "runuser", 's', "shell", EFFECT_PROGRAM },
	{ "runuser", 'l', "login", EFFECT_SOURCED },
	{ "fish", 'i', "interactive", EFFECT_SOURCED },
	{ "fish", 'l', "login", EFFECT_SOURCED },
	{ "fish", 'C', "init-command", EFFECT_PROGRAM },
};

/* The name by which rows are found: one for all shells, one for all loaders. */
static struct span family(const struct shell_wrapper *wrapper)
{
	if (wrapper->rest == REST_SHELL)
		return SPAN("sh");
	if (span_starts(span_str(wrapper->name), SPAN("ld-linux")))
		return SPAN("ld.so");
	return span_str(wrapper->name);
}

const struct option_row *wrapper_option_at(const struct shell_wrapper *wrapper, char letter,
                                           struct span name, size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(option_rows); k++) {
		const struct option_row *row = &option_rows[k];

		if (((letter && row->letter == letter) ||
		     (name.len && span_eq(name, span_str(row->name)))) &&
		    span_eq(family(wrapper), span_str(row->wrapper)) && i-- == 0)
			return row;
	}
	return NULL;
}

bool wrapper_is_harmless_mode(struct span name)
{
	return name_in(name, "allexport errexit errtrace functrace hashall history ignoreeof "
	                     "monitor noclobber noexec noglob nolog notify nounset onecmd "
	                     "physical pipefail privileged verbose xtrace");
}

static const struct running_option running_options[] = {
	{ "rg", "--pre", "" },
	{ "rg", "--hostname-bin", "" },
	{ "man", "--pager", "" },
	{ "man", "-P", "" },
	{ "man", "--html", "" },
	{ "sort", "--compress-program", "" },
	{ "split", "--filter", "" },
	{ "tar", "--to-command", "" },
	{ "tar", "--use-compress-program", "" },
	{ "tar", "--checkpoint-action", "exec=" },
	{ "tar", "--rsh-command", "" },
	{ "tar", "--info-script", "" },
	{ "tar", "--new-volume-script", "" },
	{ "tar", "-I", "" },
	{ "tar", "-F", "" },
	{ "rsync", "--rsh", "" },
	{ "rsync", "-e", "" },
	{ "scp", "-S", "" },
	{ "sftp", "-S", "" },
	{ "ssh", "-o", "ProxyCommand=" },
	{ "ssh", "-o", "LocalCommand=" },
	{ "ssh", "-o", "KnownHostsCommand=" },
	{ "scp", "-o", "ProxyCommand=" },
	{ "sftp", "-o", "ProxyCommand=" },
	{ "zip", "-TT", "" },
	{ "zip", "--unzip-command", "" },
	{ "diff3", "--diff-program", "" },
	{ "sdiff", "--diff-program", "" },
	{ "git", "--exec", "" },
	{ "git", "--upload-pack", "" },
	{ "git", "--receive-pack", "" },
	{ "git", "--open-files-in-pager", "" },
	{ "git", "--extcmd", "" },
	{ "git", "--tree-filter", "" },
	{ "git", "--index-filter", "" },
	{ "git", "--msg-filter", "" },
	{ "git", "--env-filter", "" },
	{ "git", "--commit-filter", "" },
	{ "git", "--parent-filter", "" },
	{ "git", "--tag-name-filter", "" },
	{ "git", "--sequence-editor", "" },
};

const struct running_option *wrapper_running_option_at(struct span base, size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(running_options); k++)
		if (span_eq(base, span_str(running_options[k].program)) && i-- == 0)
			return &running_options[k];
	return NULL;
}

static const struct {
	char pattern[32]; /* of fnmatch, without regard to case */
	enum git_key kind;
} git_keys[] = {
	{ "alias.*", GIT_KEY_ALIAS },
	{ "core.pager", GIT_KEY_SCRIPT },
	{ "core.editor", GIT_KEY_SCRIPT },
	{ "core.sshcommand", GIT_KEY_SCRIPT },
	{ "core.fsmonitor", GIT_KEY_SCRIPT },
	{ "core.askpass", GIT_KEY_SCRIPT },
	{ "core.gitproxy", GIT_KEY_SCRIPT },
	{ "core.alternaterefscommand", GIT_KEY_SCRIPT },
	{ "core.hookspath", GIT_KEY_PLACE },
	{ "core.attributesfile", GIT_KEY_PLACE },
	{ "core.worktree", GIT_KEY_PLACE },
	{ "hook.*", GIT_KEY_SCRIPT },
	{ "sequence.editor", GIT_KEY_SCRIPT },
	{ "pager.*", GIT_KEY_SCRIPT },
	{ "diff.external", GIT_KEY_SCRIPT },
	{ "diff.*.command", GIT_KEY_SCRIPT },
	{ "diff.*.textconv", GIT_KEY_SCRIPT },
	{ "difftool.*.cmd", GIT_KEY_SCRIPT },
	{ "difftool.*.path", GIT_KEY_SCRIPT },
	{ "interactive.difffilter", GIT_KEY_SCRIPT },
	{ "merge.*.driver", GIT_KEY_SCRIPT },
	{ "mergetool.*.cmd", GIT_KEY_SCRIPT },
	{ "mergetool.*.path", GIT_KEY_SCRIPT },
	{ "filter.*.clean", GIT_KEY_SCRIPT },
	{ "filter.*.smudge", GIT_KEY_SCRIPT },
	{ "filter.*.process", GIT_KEY_SCRIPT },
	{ "credential.helper", GIT_KEY_SCRIPT },
	{ "credential.*.helper", GIT_KEY_SCRIPT },
	{ "gpg.program", GIT_KEY_SCRIPT },
	{ "gpg.*.program", GIT_KEY_SCRIPT },
	{ "gpg.ssh.defaultkeycommand", GIT_KEY_SCRIPT },
	{ "trailer.*.command", GIT_KEY_SCRIPT },
	{ "trailer.*.cmd", GIT_KEY_SCRIPT },
	{ "tar.*.command", GIT_KEY_SCRIPT },
	{ "browser.*", GIT_KEY_SCRIPT },
	{ "man.*", GIT_KEY_SCRIPT },
	{ "guitool.*.cmd", GIT_KEY_SCRIPT },
	{ "sendemail.*", GIT_KEY_SCRIPT },
	{ "ssh.variant", GIT_KEY_HARMLESS },
	{ "uploadpack.packobjectshook", GIT_KEY_SCRIPT },
	{ "remote.*.uploadpack", GIT_KEY_SCRIPT },
	{ "remote.*.receivepack", GIT_KEY_SCRIPT },
	{ "remote.*.vcs", GIT_KEY_PLACE },
	{ "submodule.*.update", GIT_KEY_ALIAS },
	{ "include.path", GIT_KEY_PLACE },
	{ "includeif.*", GIT_KEY_PLACE },
	{ "init.templatedir", GIT_KEY_PLACE },
	{ "protocol.*", GIT_KEY_PLACE },
	{ "url.*", GIT_KEY_PLACE },
};

enum git_key wrapper_git_key_kind(struct span key)
{
	char text[256];

	if (key.len >= sizeof(text))
		return GIT_KEY_PLACE;
	snprintf(text, sizeof(text), "%.*s", (int)key.len, key.data);
	for (size_t i = 0; i < ARRAY_LEN(git_keys); i++)
		if (fnmatch(git_keys[i].pattern, text, FNM_CASEFOLD) == 0)
			return git_keys[i].kind;
	return GIT_KEY_HARMLESS;
}
