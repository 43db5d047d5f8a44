/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of docs/protocol-worker.md from those of the code. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "worker/wire/wire.h"

static const struct wire_layout *printed[64];
static size_t printed_count;

static void print_size(uint64_t bytes)
{
	if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
		printf("%llu MiB", (unsigned long long)(bytes >> 20));
	else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
		printf("%llu KiB", (unsigned long long)(bytes >> 10));
	else
		printf("%llu", (unsigned long long)bytes);
}

static const char *when_name(enum wire_when when)
{
	static const char *const names[] = {
		[WIRE_WHEN_FIRST] = "first",   [WIRE_WHEN_READY] = "ready",
		[WIRE_WHEN_ANSWER] = "answer", [WIRE_WHEN_WATCH] = "watch",
		[WIRE_WHEN_RUN] = "run",
	};

	return names[when];
}

static void print_messages(void)
{
	printf("| number | message | to | when | fields | blob | layout | says |\n"
	       "|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; wire_message_at(i); i++) {
		const struct wire_message *message = wire_message_at(i);

		printf("| %u | %s | %s | %s | ", message->number, message->name,
		       message->direction == WIRE_TO_WORKER ? "worker" : "front",
		       when_name(message->when));
		print_size(message->fields_max);
		printf(" | ");
		print_size(message->blob_max);
		printf(" | %s | %s |\n", message->layout->name, message->text);
	}
}

static void print_kinds(void)
{
	static const char *const kinds[][2] = {
#define KIND(kind, c, wire) { #kind, wire },
		WIRE_KINDS(KIND)
#undef KIND
	};

	printf("\n| kind | on the wire |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		printf("| %s | %s |\n", kinds[i][0], kinds[i][1]);
}

static const char *kind_name(enum wire_kind kind)
{
	static const char *const names[] = {
#define NAME(kind, c, wire) #kind,
		WIRE_KINDS(NAME)
#undef NAME
	};

	return names[kind];
}

/* What the page says once: "unless stated otherwise". */
static bool limit_is_usual(const struct wire_field *field)
{
	switch (field->kind) {
	case WIRE_TEXT:
	case WIRE_TEXT_OR_NULL:
		return field->max == 64 << 10;
	case WIRE_TEXTS:
	case WIRE_TEXTS_OR_NULL:
	case WIRE_ARRAY:
		return field->max == 1 << 20;
	default:
		return false;
	}
}

/* In parentheses: bytes of a text, elements of an array, values of an ENUM, the words of a WORD. */
static void print_limit(const struct wire_field *field)
{
	if (limit_is_usual(field))
		return;
	switch (field->kind) {
	case WIRE_CHARS:
		printf(" (%u)", field->size - 1);
		return;
	case WIRE_U64S:
		printf(" (%zu)", field->size / sizeof(size_t));
		return;
	case WIRE_WORD:
		for (size_t w = 0; field->words[w]; w++)
			printf("%s%s", w ? ", " : " (", field->words[w]);
		printf(")");
		return;
	case WIRE_TEXT:
	case WIRE_TEXT_OR_NULL:
	case WIRE_BYTES:
		printf(" (");
		print_size(field->max);
		printf(")");
		return;
	default:
		if (field->max)
			printf(" (%llu)", (unsigned long long)field->max);
	}
}

static void print_layout(const struct wire_layout *layout)
{
	for (size_t i = 0; i < printed_count; i++)
		if (printed[i] == layout)
			return;
	printed[printed_count++] = layout;
	if (!layout->count)
		return;
	printf("\n**%s**:", layout->name);
	for (size_t i = 0; i < layout->count; i++) {
		const struct wire_field *field = &layout->fields[i];

		printf("%s `%s` %s%s%s", i ? "," : "", field->name, kind_name(field->kind),
		       field->of ? " of " : "", field->of ? field->of->name : "");
		print_limit(field);
	}
	printf("\n");
	for (size_t i = 0; i < layout->count; i++)
		if (layout->fields[i].of)
			print_layout(layout->fields[i].of);
}

int main(void)
{
	print_messages();
	print_kinds();
	for (size_t i = 0; wire_message_at(i); i++)
		print_layout(wire_message_at(i)->layout);
	return 0;
}
