/* SPDX-License-Identifier: Apache-2.0 */
/* How the beginning of a connection, and what a plan says, travel. */
#include "base/mem.h"
#include "worker/wire/message.h"

const struct wire_layout wire_layout_nothing = { .name = "nothing" };

static const struct wire_field error_denial_fields[] = {
	WIRE_FIELD(ENUM, struct err_denial, kind, DENIAL_KIND_COUNT),
	WIRE_FIELD(ENUM, struct err_denial, reason, SANDBOX_REASON_COUNT),
	WIRE_FIELD(ENUM, struct err_denial, level, SANDBOX_FULL + 1),
	WIRE_FIELD(CHARS, struct err_denial, what, 0),
	WIRE_FIELD(CHARS, struct err_denial, rule, 0),
};
const struct wire_layout wire_layout_error_denial =
	WIRE_LAYOUT("error_denial", struct err_denial, error_denial_fields);

static const struct wire_field error_fields[] = {
	WIRE_NESTED(ERROR, struct wire_error, err, wire_layout_error_denial),
};
const struct wire_layout wire_layout_error = WIRE_LAYOUT("error", struct wire_error, error_fields);

/* ---- the plan -------------------------------------------------------------- */

static const struct wire_field rule_fields[] = {
	WIRE_FIELD(TEXT, struct sandbox_rule, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct sandbox_rule, access, SANDBOX_WRITE + 1),
	WIRE_FIELD(ENUM, struct sandbox_rule, reason, SANDBOX_REASON_COUNT),
	WIRE_FIELD(BOOL, struct sandbox_rule, folder, 0),
};
static const struct wire_layout layout_rule = WIRE_LAYOUT("sandbox_rule", struct sandbox_rule,
                                                          rule_fields);

static const struct wire_field absent_fields[] = {
	WIRE_FIELD(TEXT, struct sandbox_absent, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct sandbox_absent, reason, SANDBOX_REASON_COUNT),
};
static const struct wire_layout layout_absent = WIRE_LAYOUT("sandbox_absent",
                                                            struct sandbox_absent, absent_fields);

static const struct wire_field limits_fields[] = {
	WIRE_FIELD(U64, struct sandbox_limits, memory_bytes, 0),
	WIRE_FIELD(U64, struct sandbox_limits, file_bytes, 0),
	WIRE_FIELD(U32, struct sandbox_limits, processes, 0),
	WIRE_FIELD(U32, struct sandbox_limits, open_files, 0),
	WIRE_FIELD(U32, struct sandbox_limits, cpu_seconds, 0),
};
const struct wire_layout wire_layout_limits = WIRE_LAYOUT("sandbox_limits", struct sandbox_limits,
                                                          limits_fields);

static const struct wire_field pointer_fields[] = {
	WIRE_FIELD(ENUM, struct sandbox_pointer, kind, SANDBOX_POINTER_KINDS),
	WIRE_FIELD(TEXT, struct sandbox_pointer, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct sandbox_pointer, value, LIMIT_WIRE_PATH),
};
static const struct wire_layout layout_pointer = WIRE_LAYOUT("sandbox_pointer",
                                                             struct sandbox_pointer, pointer_fields);

static const struct wire_field plan_fields[] = {
	WIRE_FIELD(ENUM, struct sandbox_plan, level, SANDBOX_FULL + 1),
	WIRE_FIELD(ENUM, struct sandbox_plan, use, SANDBOX_USE_COMMAND + 1),
	WIRE_FIELD(BOOL, struct sandbox_plan, network, 0),
	WIRE_FIELD(BOOL, struct sandbox_plan, own_network, 0),
	WIRE_FIELD(BOOL, struct sandbox_plan, own_processes, 0),
	WIRE_FIELD(BOOL, struct sandbox_plan, user_namespace, 0),
	WIRE_FIELD(U32, struct sandbox_plan, landlock_abi, 0),
	WIRE_COUNTED(ARRAY, struct sandbox_plan, rules, rule_count, LIMIT_WIRE_TEXTS, &layout_rule),
	WIRE_COUNTED(ARRAY, struct sandbox_plan, absent, absent_count, LIMIT_WIRE_TEXTS,
	             &layout_absent),
	WIRE_COUNTED(ARRAY, struct sandbox_plan, pointers, pointer_count, LIMIT_WIRE_TEXTS,
	             &layout_pointer),
	WIRE_COUNTED(TEXTS, struct sandbox_plan, roots, root_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct sandbox_plan, given, given_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(TEXT_OR_NULL, struct sandbox_plan, temp, LIMIT_WIRE_PATH),
	WIRE_NESTED(STRUCT, struct sandbox_plan, limits, wire_layout_limits),
	WIRE_FIELD(TEXT_OR_NULL, struct sandbox_plan, weaker_because, LIMIT_WIRE_SENTENCE),
};
static const struct wire_layout layout_plan = WIRE_LAYOUT("sandbox_plan", struct sandbox_plan,
                                                          plan_fields);

/* ---- hello and welcome ----------------------------------------------------- */

static const struct wire_field hello_fields[] = {
	WIRE_COUNTED(TEXTS, struct wire_hello, options.roots, options.root_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.root_names, options.root_name_count,
	             LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(TEXT_OR_NULL, struct wire_hello, options.journal_folder, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct wire_hello, options.durability, DURABILITY_RENAME + 1),
	WIRE_FIELD(U64, struct wire_hello, options.max_file_bytes, 0),
	WIRE_FIELD(BOOL, struct wire_hello, options.keep_cache, 0),
	WIRE_FIELD(BOOL, struct wire_hello, options.commands_only, 0),
	WIRE_FIELD(BOOL, struct wire_hello, options.level_given, 0),
	WIRE_FIELD(ENUM, struct wire_hello, options.level, SANDBOX_FULL + 1),
	WIRE_FIELD(BOOL, struct wire_hello, options.network, 0),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.write, options.write_count,
	             LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.read, options.read_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.deny, options.deny_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_NESTED(STRUCT, struct wire_hello, options.limits, wire_layout_limits),
	WIRE_NESTED(STRUCT_OR_NULL, struct wire_hello, plan, layout_plan),
};
const struct wire_layout wire_layout_hello = WIRE_LAYOUT("hello", struct wire_hello, hello_fields);

static const struct wire_field welcome_fields[] = {
	WIRE_COUNTED(TEXTS, struct wire_welcome, roots, root_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(TEXT, struct wire_welcome, kind, LIMIT_WIRE_WORD),
	WIRE_FIELD(ENUM, struct wire_welcome, level, SANDBOX_FULL + 1),
	WIRE_FIELD(TEXT_OR_NULL, struct wire_welcome, weaker_because, LIMIT_WIRE_SENTENCE),
	WIRE_FIELD(U64, struct wire_welcome, recovered, 0),
};
const struct wire_layout wire_layout_welcome = WIRE_LAYOUT("welcome", struct wire_welcome,
                                                           welcome_fields);
