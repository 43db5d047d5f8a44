/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the seccomp filters as C, when hasp is built: gen_filters > filter_programs.c
 *
 * The table (filter_rules.h) goes through libseccomp, once per filter and architecture.  In front
 * of what libseccomp makes stand a few instructions of our own, for what it cannot say: calls
 * known by number alone, and "everything newer".  Jumps of BPF are relative, so the parts can be
 * put together as they are.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/apply/filter_rules.h"

#define X32_BIT 0x40000000u

struct machine {
	const char *macro;   /* of the compiler */
	uint32_t scmp, audit;
};

static const struct machine machines[] = {
	{ "__x86_64__", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64 },
	{ "__aarch64__", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64 },
};

#define MACHINE_COUNT (sizeof(machines) / sizeof(machines[0]))

static const char *const filter_names[FILTER_COUNT] = {
	[FILTER_BASE] = "base",
	[FILTER_FILES] = "files",
	[FILTER_COMMAND] = "command",
	[FILTER_COMMAND_NET] = "command_net",
	[FILTER_COMMAND_LANDLOCK] = "command_landlock",
	[FILTER_COMMAND_LANDLOCK_NET] = "command_landlock_net",
};

static void fail(const char *what, const char *call, int error)
{
	fprintf(stderr, "gen_filters: %s: %s: %s\n", what, call, strerror(error < 0 ? -error : error));
	exit(1);
}

/* Notifying is for commands: a file worker has no supervisor. */
static bool notifies(const struct filter_rule *rule, enum filter_name filter)
{
	return rule->answer != RULE_ERRNO && filter >= FILTER_COMMAND;
}

static uint32_t libseccomp_action(const struct filter_rule *rule, enum filter_name filter)
{
	return notifies(rule, filter) ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO((uint32_t)rule->error);
}

static uint32_t kernel_action(const struct filter_rule *rule, enum filter_name filter)
{
	return notifies(rule, filter) ? SECCOMP_RET_USER_NOTIF :
	                                SECCOMP_RET_ERRNO | (uint32_t)rule->error;
}

/* One rule of libseccomp's in the making. */
struct draft {
	scmp_filter_ctx context;
	const struct filter_rule *rule;
	uint32_t action;
	int number;
	struct scmp_arg_cmp tests[3];
	unsigned count;
};

static void add_tests(struct draft *draft, unsigned at);

static void with(struct draft *draft, unsigned at, enum scmp_compare op, uint64_t a, uint64_t b)
{
	draft->tests[draft->count++] = (struct scmp_arg_cmp){
		.arg = draft->rule->tests[at].argument, .op = op, .datum_a = a, .datum_b = b,
	};
	add_tests(draft, at + 1);
	draft->count--;
}

static bool is_in(const uint32_t *values, uint64_t value)
{
	for (; *values != RULE_END; values++) {
		if (*values == value)
			return true;
	}
	return false;
}

/* All values of a small field, or all up to the largest that is named and then "greater": the
 * last compares all 64 bits, so that garbage in the upper half is refused too. */
static void add_not_in(struct draft *draft, unsigned at, const struct rule_test *test)
{
	uint64_t end = 0;

	if (test->mask != RULE_LOW) {
		end = test->mask + 1;
	} else {
		for (const uint32_t *v = test->values; *v != RULE_END; v++)
			end = (uint64_t)*v + 1;
		with(draft, at, SCMP_CMP_GE, end, 0);
	}
	for (uint64_t value = 0; value < end; value++) {
		if (!is_in(test->values, value))
			with(draft, at, SCMP_CMP_MASKED_EQ, test->mask, value);
	}
}

static void add_bits(struct draft *draft, unsigned at, uint64_t bits)
{
	for (uint64_t bit = 1; bit && bit <= bits; bit <<= 1) {
		if (bits & bit)
			with(draft, at, SCMP_CMP_MASKED_EQ, bit, bit);
	}
}

/* A word is neither 0 nor all ones if some bit is set and the next, around the end, is not. */
static void add_mixed(struct draft *draft, unsigned at)
{
	for (unsigned i = 0; i < 32; i++) {
		uint64_t bit = UINT64_C(1) << i, next = UINT64_C(1) << (i + 1) % 32;

		with(draft, at, SCMP_CMP_MASKED_EQ, bit | next, bit);
	}
}

static void add_tests(struct draft *draft, unsigned at)
{
	const struct rule_test *test = &draft->rule->tests[at];
	int error;

	if (at < 3 && test->op != OP_NONE) {
		switch (test->op) {
		case OP_NONE:
			break;
		case OP_EQ:
			with(draft, at, SCMP_CMP_MASKED_EQ, test->mask, test->value);
			break;
		case OP_ANY_OF:
			add_bits(draft, at, test->value);
			break;
		case OP_CLEAR:
			with(draft, at, SCMP_CMP_MASKED_EQ, test->value, 0);
			break;
		case OP_NOT:
			with(draft, at, SCMP_CMP_NE, test->value, 0);
			break;
		case OP_MIXED:
			add_mixed(draft, at);
			break;
		case OP_NOT_IN:
			add_not_in(draft, at, test);
			break;
		}
		return;
	}
	error = seccomp_rule_add_array(draft->context, draft->action, draft->number, draft->count,
	                               draft->tests);
	if (error)
		fail("seccomp_rule_add", draft->rule->call, error);
}

static void add_rule(scmp_filter_ctx context, const struct filter_rule *rule,
                     enum filter_name filter)
{
	struct draft draft = { .context = context, .rule = rule,
		.action = libseccomp_action(rule, filter) };

	draft.number = seccomp_syscall_resolve_name(rule->call);
	if (draft.number == __NR_SCMP_ERROR)
		fail("this libseccomp does not know", rule->call, ENOSYS);
	add_tests(&draft, 0);
}

static scmp_filter_ctx new_context(const struct machine *machine)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int error;

	if (!context)
		fail("seccomp_init", machine->macro, ENOMEM);
	seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A binary tree instead of a list, where the library has it (2.5). */
	seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (machine->scmp != seccomp_arch_native()) {
		error = seccomp_arch_add(context, machine->scmp);
		if (!error)
			error = seccomp_arch_remove(context, SCMP_ARCH_NATIVE);
		if (error)
			fail("seccomp_arch", machine->macro, error);
	}
	return context;
}

/* The instructions of a context; returns how many. */
static size_t export(scmp_filter_ctx context, struct sock_filter *code, size_t room)
{
	int fd = memfd_create("filter", MFD_CLOEXEC), error;
	ssize_t length;

	error = fd < 0 ? -errno : seccomp_export_bpf(context, fd);
	if (error)
		fail("seccomp_export_bpf", "", error);
	length = pread(fd, code, room * sizeof(*code), 0);
	if (length <= 0 || length % (ssize_t)sizeof(*code) || (size_t)length == room * sizeof(*code))
		fail("filter", "does not fit", EFBIG);
	close(fd);
	return (size_t)length / sizeof(*code);
}

static bool has_rows(enum filter_name filter, bool numbered)
{
	for (unsigned i = 0; i < filter_rule_count; i++) {
		if ((filter_rules[i].filters >> filter & 1) && !!filter_rules[i].number == numbered)
			return true;
	}
	return false;
}

/* What stands in front: the architecture, x32, calls newer than the table, calls by number. */
static size_t prologue(const struct machine *machine, enum filter_name filter,
                       struct sock_filter *code)
{
	size_t n = 0, skip;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine->audit, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, nr));
	/* x32 is the same architecture with a bit in the number, so this refuses it as well. */
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, FILTER_LAST_CALL, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	if (!has_rows(filter, true))
		return n;
	skip = n++; /* old calls, nearly all, pass with one comparison */
	for (unsigned i = 0; i < filter_rule_count; i++) {
		const struct filter_rule *rule = &filter_rules[i];

		if (!rule->number || !(rule->filters >> filter & 1))
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(uint32_t)rule->number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
			kernel_action(rule, filter));
	}
	code[skip] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 424, 0,
		(uint8_t)(n - skip - 1));
	return n;
}

static void print_filter(const struct machine *machine, enum filter_name filter)
{
	static struct sock_filter code[BPF_MAXINSNS];
	size_t n = prologue(machine, filter, code);
	scmp_filter_ctx context = new_context(machine);

	for (unsigned i = 0; i < filter_rule_count; i++) {
		if ((filter_rules[i].filters >> filter & 1) && !filter_rules[i].number)
			add_rule(context, &filter_rules[i], filter);
	}
	n += export(context, code + n, BPF_MAXINSNS - n);
	seccomp_release(context);
	printf("static const struct sock_filter %s[] = {\n", filter_names[filter]);
	for (size_t i = 0; i < n; i++) {
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", code[i].code, code[i].jt, code[i].jf,
		       code[i].k);
	}
	printf("};\n\n");
}

/* Names and answers of the refused calls, for the supervisor. */
static void print_calls(const struct machine *machine)
{
	printf("static const struct filter_call calls[] = {\n");
	for (unsigned i = 0; i < filter_rule_count; i++) {
		const struct filter_rule *rule = &filter_rules[i];
		int number = rule->number;

		if (rule->answer != RULE_DENY || !(rule->filters >> FILTER_COMMAND))
			continue;
		if (!number)
			number = seccomp_syscall_resolve_name_arch(machine->scmp, rule->call);
		if (number >= 0) {
			printf("\t{ %d, %d, \"%s\", \"%s\" },\n", number, rule->error, rule->call,
			       rule->why);
		}
	}
	printf("};\n\n");
}

static void print_machine(const struct machine *machine, bool first)
{
	printf("#%s defined(%s)\n\n", first ? "if" : "elif", machine->macro);
	for (int filter = 0; filter < FILTER_COUNT; filter++)
		print_filter(machine, (enum filter_name)filter);
	print_calls(machine);
}

int main(void)
{
	puts("/* SPDX-License-Identifier: Apache-2.0 */\n"
	     "/* Made by gen_filters; the table is in filter_rules.c. */\n"
	     "#include \"sandbox/apply/filter_programs.h\"\n");
	for (size_t i = 0; i < MACHINE_COUNT; i++)
		print_machine(&machines[i], i == 0);
	puts("#else\n#error \"no seccomp filters for this architecture: see gen_filters.c\"\n"
	     "#endif\n");
	puts("const struct filter_program filter_programs[FILTER_COUNT] = {");
	for (int i = 0; i < FILTER_COUNT; i++)
		printf("\t{ %s, sizeof(%s) / sizeof(%s[0]) },\n", filter_names[i], filter_names[i],
		       filter_names[i]);
	puts("};\n");
	puts("const struct filter_call *const filter_calls = calls;\n"
	     "const size_t filter_call_count = sizeof(calls) / sizeof(calls[0]);");
	return fflush(stdout) == 0 ? 0 : 1;
}
