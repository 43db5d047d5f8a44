/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled programs: ELF by libelf, classes of Java (JVM specification, 4.1), bytecode of Python
 * (PEP 552); and fonts by FreeType.  What they are and need, and on request the texts in them. */
#include <errno.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/format.h"
#include "read/text_out.h"

enum {
	PROGRAM_BYTES = 384 << 20, /* mapped in one piece */
	STRING_LEAST = 4,
	STRING_MOST = 4096,
	SECTIONS_MAX = 10000,
	NEEDED_MAX = 1000,
	FACES_MAX = 64,
};

/* The file in memory, not copied. */
struct program_file {
	struct span bytes;
	const struct derive_request *request;
	struct derive_result *ret;
	struct text_out out;
};

static bool program_open(struct program_file *program, const struct format_input *input,
                         const struct derive_request *request, struct derive_result *ret,
                         struct err *err)
{
	void *bytes;

	*program = (struct program_file){ .request = request, .ret = ret };
	text_out_init(&program->out, request, ret);
	if (input->size > PROGRAM_BYTES || !input->size)
		return err_set(err, ERR_TOO_LARGE, "It has %llu bytes; a file of this kind is read "
		               "up to %d MB.", (unsigned long long)input->size,
		               PROGRAM_BYTES >> 20);
	bytes = mmap(NULL, input->size, PROT_READ, MAP_PRIVATE, input->fd, 0);
	if (bytes == MAP_FAILED)
		return err_set_errno(err, errno, "It cannot be mapped into memory");
	program->bytes = span_of(bytes, input->size);
	return true;
}

static void program_close(struct program_file *program)
{
	if (program->bytes.data)
		munmap((void *)program->bytes.data, program->bytes.len);
}

/* Runs of printable ASCII, as strings(1) finds them. */
static void put_printable(struct program_file *program)
{
	const struct span bytes = program->bytes;
	size_t start = 0;

	for (size_t i = 0; i <= bytes.len && !program->out.full; i++) {
		const char c = i < bytes.len ? bytes.data[i] : '\0';

		if ((c >= ' ' && c < 0x7f) || c == '\t')
			continue;
		if (i - start >= STRING_LEAST) {
			text_out(&program->out, span_head(span_of(bytes.data + start, i - start),
			                                  STRING_MOST));
			text_out(&program->out, SPAN("\n"));
		}
		start = i + 1;
	}
}

/* ---- ELF ------------------------------------------------------------------------------- */

struct elf_library {
	__typeof__(elf_version) *version;
	__typeof__(elf_memory) *memory;
	__typeof__(elf_end) *end;
	__typeof__(elf_kind) *kind;
	__typeof__(elf_errno) *errnumber;
	__typeof__(elf_errmsg) *errmsg;
	__typeof__(gelf_getehdr) *header;
	__typeof__(elf_nextscn) *next_section;
	__typeof__(gelf_getshdr) *section_header;
	__typeof__(elf_getshdrstrndx) *names_index;
	__typeof__(elf_strptr) *string;
	__typeof__(elf_getdata) *data;
	__typeof__(gelf_getdyn) *dynamic;
	__typeof__(elf_getphdrnum) *segment_count;
	__typeof__(gelf_getphdr) *segment;
	__typeof__(gelf_getsym) *symbol;
};

#define ROW(member, name) { name, offsetof(struct elf_library, member) }
static const struct library_symbol elf_symbols[] = {
	ROW(version, "elf_version"),
	ROW(memory, "elf_memory"),
	ROW(end, "elf_end"),
	ROW(kind, "elf_kind"),
	ROW(errnumber, "elf_errno"),
	ROW(errmsg, "elf_errmsg"),
	ROW(header, "gelf_getehdr"),
	ROW(next_section, "elf_nextscn"),
	ROW(section_header, "gelf_getshdr"),
	ROW(names_index, "elf_getshdrstrndx"),
	ROW(string, "elf_strptr"),
	ROW(data, "elf_getdata"),
	ROW(dynamic, "gelf_getdyn"),
	ROW(segment_count, "elf_getphdrnum"),
	ROW(segment, "gelf_getphdr"),
	ROW(symbol, "gelf_getsym"),
};
#undef ROW

static const struct library elf_row = { { "libelf.so.1" }, "Programs in ELF need", "libelf1",
                                        elf_symbols, ARRAY_LEN(elf_symbols) };
static struct elf_library libelf;

bool format_elf_load(struct err *err)
{
	return library_load(&elf_row, &libelf, err);
}

static const char *elf_machine(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *words;
	} rows[] = {
		{ EM_386, "x86" }, { EM_X86_64, "x86-64" }, { EM_ARM, "ARM" },
		{ EM_AARCH64, "AArch64" }, { EM_RISCV, "RISC-V" }, { EM_PPC, "PowerPC" },
		{ EM_PPC64, "PowerPC 64" }, { EM_S390, "S/390" }, { EM_MIPS, "MIPS" },
		{ EM_SPARCV9, "SPARC V9" }, { EM_BPF, "BPF" }, { EM_LOONGARCH, "LoongArch" },
		{ EM_IA_64, "IA-64" }, { EM_AVR, "AVR" }, { EM_68K, "m68k" },
		{ EM_XTENSA, "Xtensa" },
	};
	static char unknown[32];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].machine == machine)
			return rows[i].words;
	snprintf(unknown, sizeof(unknown), "machine %u", machine);
	return unknown;
}

/* Whether a program interpreter is named: the difference between programs and shared libraries. */
static void elf_segments(Elf *elf, struct program_file *program, bool *ret_interpreter)
{
	size_t count = 0;
	GElf_Phdr segment;

	*ret_interpreter = false;
	libelf.segment_count(elf, &count);
	for (size_t i = 0; i < count && i < SECTIONS_MAX; i++) {
		if (!libelf.segment(elf, (int)i, &segment) || segment.p_type != PT_INTERP)
			continue;
		*ret_interpreter = true;
		if (segment.p_offset < program->bytes.len && segment.p_filesz < 4096) {
			const struct span rest = span_head(
				span_skip(program->bytes, segment.p_offset), segment.p_filesz);

			format_fact(program->ret, "interpreter",
			            span_of(rest.data, strnlen(rest.data, rest.len)));
		}
	}
}

static void elf_needed(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       struct program_file *program)
{
	Elf_Data *data = libelf.data(section, NULL);
	json_t *needed = json_object_get(program->ret->facts, "needs");
	GElf_Dyn entry;

	for (int i = 0; data && i < NEEDED_MAX && libelf.dynamic(data, i, &entry); i++) {
		const char *text;

		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME)
			continue;
		text = libelf.string(elf, header->sh_link, entry.d_un.d_val);
		if (text && entry.d_tag == DT_SONAME)
			format_fact(program->ret, "soname", span_str(text));
		else if (text && json_array_size(needed) < NEEDED_MAX)
			json_array_append_new(needed, json_text(utf8_head(span_str(text), 200)));
	}
}

/* Notes of the file as its sections have them. */
struct elf_counts {
	uint64_t symbols, dynamic_symbols, sections;
	bool debug;
};

static void elf_section(Elf *elf, Elf_Scn *section, size_t names, struct program_file *program,
                        struct elf_counts *counts)
{
	GElf_Shdr header;
	const char *name;

	if (!libelf.section_header(section, &header))
		return;
	name = libelf.string(elf, names, header.sh_name);
	counts->sections++;
	counts->debug |= name && strncmp(name, ".debug_info", 11) == 0;
	if (header.sh_type == SHT_SYMTAB && header.sh_entsize)
		counts->symbols += header.sh_size / header.sh_entsize;
	if (header.sh_type == SHT_DYNSYM && header.sh_entsize)
		counts->dynamic_symbols += header.sh_size / header.sh_entsize;
	if (header.sh_type == SHT_DYNAMIC)
		elf_needed(elf, section, &header, program);
	if (program->request->details)
		text_out_printf(&program->out, "%#12llx %10llu  %.100s\n",
		                (unsigned long long)header.sh_addr,
		                (unsigned long long)header.sh_size, name ? name : "?");
}

static void elf_sections(Elf *elf, struct program_file *program)
{
	struct derive_result *ret = program->ret;
	struct elf_counts counts = { 0 };
	Elf_Scn *section = NULL;
	size_t names = 0;

	json_object_set_new(ret->facts, "needs", json_array());
	libelf.names_index(elf, &names);
	if (program->request->details)
		text_out_printf(&program->out, "     address       size  section\n");
	while (counts.sections < SECTIONS_MAX && (section = libelf.next_section(elf, section)))
		elf_section(elf, section, names, program, &counts);
	if (!json_array_size(json_object_get(ret->facts, "needs")))
		json_object_del(ret->facts, "needs");
	format_fact_count(ret, "sections", counts.sections);
	format_fact_count(ret, "symbols", counts.symbols);
	format_fact_count(ret, "dynamic_symbols", counts.dynamic_symbols);
	format_fact(ret, "debug_information", counts.debug ? SPAN("yes") : SPAN("no"));
}

static bool elf_facts(Elf *elf, struct program_file *program, struct err *err)
{
	static const char *const types[] = { "file of no type", "object file", "program",
		                             "shared library", "core dump" };
	struct derive_result *ret = program->ret;
	bool interpreter;
	GElf_Ehdr header;
	const char *type;

	if (libelf.kind(elf) != ELF_K_ELF || !libelf.header(elf, &header))
		return err_set(err, ERR_NOT_TEXT, "It is damaged: %.200s.",
		               libelf.errmsg(libelf.errnumber()));
	type = header.e_type < ARRAY_LEN(types) ? types[header.e_type] : types[0];
	format_library(ret, "libelf");
	format_fact(ret, "architecture", span_str(elf_machine(header.e_machine)));
	format_fact_count(ret, "bits", header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32);
	format_fact(ret, "byte_order", header.e_ident[EI_DATA] == ELFDATA2MSB ?
	            SPAN("big-endian") : SPAN("little-endian"));
	elf_segments(elf, program, &interpreter);
	if (interpreter && header.e_type == ET_DYN)
		type = "program (position-independent)";
	format_fact(ret, "type", span_str(type));
	elf_sections(elf, program);
	return true;
}

bool format_elf_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	struct program_file program;
	Elf *elf = NULL;
	bool ok = program_open(&program, input, request, ret, err);

	if (ok) {
		libelf.version(EV_CURRENT);
		elf = libelf.memory((char *)program.bytes.data, program.bytes.len);
		ok = elf ? elf_facts(elf, &program, err) :
		     err_set(err, ERR_NOT_TEXT, "It is damaged: %.200s.",
		             libelf.errmsg(libelf.errnumber()));
	}
	if (ok && request->strings)
		put_printable(&program);
	if (elf)
		libelf.end(elf);
	text_out_end(&program.out);
	program_close(&program);
	return ok;
}

/* ---- classes of Java ------------------------------------------------------------------- */

/* Big-endian numbers from the front; zeros past the end. */
struct bytes_reader {
	struct span rest;
	bool ended;
};

static unsigned take_big_endian(struct bytes_reader *reader, unsigned count)
{
	unsigned value = 0;

	reader->ended |= reader->rest.len < count;
	for (unsigned i = 0; i < count && !reader->ended; i++)
		value = value << 8 | (unsigned char)reader->rest.data[i];
	reader->rest = span_skip(reader->rest, count);
	return value;
}

struct java_class {
	struct span *texts;    /* of the constants that are texts, by index */
	unsigned *names;       /* of those that are classes: the index of their name */
	unsigned count, class_count;
};

/* 4.4: one constant; false: its tag is unknown. */
static bool java_constant(struct bytes_reader *reader, struct java_class *class, unsigned *index)
{
	/* bytes after the tag, by tag */
	static const unsigned char sizes[] = { 0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4,
		                               4, 2, 2 };
	const unsigned tag = take_big_endian(reader, 1);

	if (tag == 1) {
		const unsigned len = take_big_endian(reader, 2);

		class->texts[*index] = span_head(reader->rest, len);
		reader->ended |= reader->rest.len < len;
		reader->rest = span_skip(reader->rest, len);
		return true;
	}
	if (tag >= ARRAY_LEN(sizes) || !sizes[tag])
		return false;
	if (tag == 7) {
		class->names[*index] = take_big_endian(reader, 2);
		class->class_count++;
		return true;
	}
	reader->ended |= reader->rest.len < sizes[tag];
	reader->rest = span_skip(reader->rest, sizes[tag]);
	*index += tag == 5 || tag == 6; /* long and double take two */
	return true;
}

static struct span java_name(const struct java_class *class, unsigned index)
{
	const unsigned name = index < class->count ? class->names[index] : 0;

	return name < class->count ? class->texts[name] : span_of("", 0);
}

/* 4.5, 4.6: fields or methods, whose attributes are skipped. */
static unsigned java_members(struct bytes_reader *reader, const struct java_class *class,
                             const char *words, struct text_out *out)
{
	const unsigned count = take_big_endian(reader, 2);

	for (unsigned i = 0; i < count && !reader->ended; i++) {
		unsigned name, type, attributes;

		take_big_endian(reader, 2);
		name = take_big_endian(reader, 2);
		type = take_big_endian(reader, 2);
		attributes = take_big_endian(reader, 2);
		if (name < class->count && type < class->count) {
			text_out_printf(out, "%s ", words);
			text_out(out, class->texts[name]);
			text_out(out, SPAN(" "));
			text_out(out, class->texts[type]);
			text_out(out, SPAN("\n"));
		}
		for (; attributes && !reader->ended; attributes--) {
			take_big_endian(reader, 2);
			reader->rest = span_skip(reader->rest, take_big_endian(reader, 4));
		}
	}
	return count;
}

static bool java_facts(struct program_file *program, struct java_class *class, struct err *err)
{
	struct bytes_reader reader = { .rest = span_skip(program->bytes, 4) };
	struct derive_result *ret = program->ret;
	const unsigned minor = take_big_endian(&reader, 2), major = take_big_endian(&reader, 2);
	unsigned i, own, parent;
	char version[64];

	class->count = take_big_endian(&reader, 2);
	class->texts = mem_alloc(class->count + 2U, sizeof(*class->texts));
	class->names = mem_alloc(class->count + 2U, sizeof(*class->names));
	for (i = 1; i < class->count && !reader.ended; i++)
		if (!java_constant(&reader, class, &i))
			return err_set(err, ERR_NOT_TEXT, "It is damaged: constant %u is of no "
			               "known kind.", i);
	take_big_endian(&reader, 2);
	own = take_big_endian(&reader, 2);
	parent = take_big_endian(&reader, 2);
	snprintf(version, sizeof(version), "%u.%u (Java %u)", major, minor,
	         major > 44 ? major - 44 : 1);
	format_library(ret, "hasp");
	format_fact(ret, "version", span_str(version));
	format_fact(ret, "class", java_name(class, own));
	format_fact(ret, "extends", java_name(class, parent));
	for (i = take_big_endian(&reader, 2); i && !reader.ended; i--) {
		text_out(&program->out, SPAN("implements "));
		text_out(&program->out, java_name(class, take_big_endian(&reader, 2)));
		text_out(&program->out, SPAN("\n"));
	}
	format_fact_count(ret, "constants", class->count);
	format_fact_count(ret, "classes_used", class->class_count);
	format_fact_count(ret, "fields", java_members(&reader, class, "field", &program->out));
	format_fact_count(ret, "methods", java_members(&reader, class, "method", &program->out));
	return !reader.ended || err_set(err, ERR_NOT_TEXT, "It is damaged: it ends too early.");
}

/* A Mach-O file for several machines begins with the same bytes; its count of those is small. */
bool format_class_sniff(struct span head)
{
	return head.len > 8 && (unsigned char)head.data[6] == 0 && head.data[7] >= 45;
}

bool format_class_read(const struct format_input *input, const struct derive_request *request,
                       struct derive_result *ret, struct err *err)
{
	struct java_class class = { 0 };
	struct program_file program;
	bool ok = program_open(&program, input, request, ret, err) &&
	          java_facts(&program, &class, err);

	if (ok && request->strings)
		put_printable(&program);
	free(class.texts);
	free(class.names);
	text_out_end(&program.out);
	program_close(&program);
	return ok;
}

/* ---- bytecode of Python ---------------------------------------------------------------- */

/* Magic numbers from importlib's own list; of a version the numbers up to the next one's. */
static const char *python_version(unsigned magic)
{
	static const struct {
		unsigned from;
		const char *version;
	} rows[] = {
		{ 3000, "3.0" }, { 3150, "3.1" }, { 3160, "3.2" }, { 3190, "3.3" }, { 3250, "3.4" },
		{ 3320, "3.5" }, { 3360, "3.6" }, { 3390, "3.7" }, { 3400, "3.8" }, { 3420, "3.9" },
		{ 3430, "3.10" }, { 3450, "3.11" }, { 3500, "3.12" }, { 3550, "3.13" },
		{ 3600, "3.14" }, { 3650, "3.15 or later" },
	};
	const char *found = magic >= 62000 ? "2.7 or older" : "unknown";

	for (size_t i = 0; i < ARRAY_LEN(rows) && magic < 4000; i++)
		if (magic >= rows[i].from)
			found = rows[i].version;
	return found;
}

static unsigned little_endian(struct span bytes, size_t at, unsigned count)
{
	unsigned value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (unsigned)(unsigned char)bytes.data[at + i] << (8 * i);
	return value;
}

static bool pyc_facts(struct program_file *program, struct err *err)
{
	struct derive_result *ret = program->ret;
	const struct span bytes = program->bytes;
	const unsigned magic = bytes.len >= 16 ? little_endian(bytes, 0, 2) : 0;
	const bool hashed = bytes.len >= 16 && magic >= 3390 && (little_endian(bytes, 4, 4) & 1);
	const size_t at = magic >= 3390 && magic < 4000 ? 8 : 4;
	char text[32];
	struct tm parts;
	time_t moment;

	if (bytes.len < 16)
		return err_set(err, ERR_NOT_TEXT, "It is damaged: it ends too early.");
	format_library(ret, "hasp");
	format_fact(ret, "python", span_str(python_version(magic)));
	format_fact_count(ret, "magic", magic);
	if (hashed) {
		format_fact(ret, "checked_by", SPAN("hash of its source"));
		return true;
	}
	moment = (time_t)little_endian(bytes, at, 4);
	if (gmtime_r(&moment, &parts) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts))
		format_fact(ret, "source_modified", span_str(text));
	if (magic >= 3190 && magic < 4000)
		format_fact_count(ret, "source_bytes", little_endian(bytes, at + 4, 4));
	return true;
}

bool format_pyc_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	struct program_file program;
	const bool ok = program_open(&program, input, request, ret, err) &&
	                pyc_facts(&program, err);

	if (ok && request->strings)
		put_printable(&program);
	text_out_end(&program.out);
	program_close(&program);
	return ok;
}

/* The number of its version, then CR LF. */
bool format_pyc_sniff(struct span head)
{
	return head.len >= 16 && head.data[2] == '\r' && head.data[3] == '\n';
}

/* ---- fonts ----------------------------------------------------------------------------- */

struct font_library {
	__typeof__(FT_Init_FreeType) *init;
	__typeof__(FT_Done_FreeType) *done;
	__typeof__(FT_New_Memory_Face) *face;
	__typeof__(FT_Done_Face) *done_face;
	__typeof__(FT_Library_Version) *version;
};

#define ROW(member, name) { name, offsetof(struct font_library, member) }
static const struct library_symbol font_symbols[] = {
	ROW(init, "FT_Init_FreeType"),
	ROW(done, "FT_Done_FreeType"),
	ROW(face, "FT_New_Memory_Face"),
	ROW(done_face, "FT_Done_Face"),
	ROW(version, "FT_Library_Version"),
};
#undef ROW

static const struct library font_row = { { "libfreetype.so.6" }, "Fonts need", "libfreetype6",
                                         font_symbols, ARRAY_LEN(font_symbols) };
static struct font_library freetype;

bool format_font_load(struct err *err)
{
	return library_load(&font_row, &freetype, err);
}

static void font_face(FT_Face face, struct program_file *program)
{
	text_out_printf(&program->out, "%.200s, %.100s: %ld glyphs%s%s, %d character maps\n",
	                face->family_name ? face->family_name : "(no name)",
	                face->style_name ? face->style_name : "regular", (long)face->num_glyphs,
	                FT_IS_SCALABLE(face) ? ", scalable" : "",
	                FT_IS_FIXED_WIDTH(face) ? ", fixed width" : "", face->num_charmaps);
}

static bool font_faces(FT_Library library, struct program_file *program, struct err *err)
{
	FT_Long count = 1, opened = 0;

	for (FT_Long i = 0; i < count && i < FACES_MAX; i++) {
		FT_Face face;

		if (freetype.face(library, (const FT_Byte *)program->bytes.data,
		                  (FT_Long)program->bytes.len, i, &face) != 0)
			continue;
		count = face->num_faces;
		if (!opened++ && face->family_name)
			format_fact(program->ret, "family", span_str(face->family_name));
		font_face(face, program);
		freetype.done_face(face);
	}
	format_fact_count(program->ret, "faces", (uint64_t)count);
	return opened || err_set(err, ERR_NOT_TEXT, "It is damaged: no face of it can be opened.");
}

bool format_font_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	struct program_file program;
	FT_Library library = NULL;
	FT_Int major = 0, minor = 0, patch = 0;
	bool ok = program_open(&program, input, request, ret, err);

	if (ok && freetype.init(&library) != 0)
		ok = err_set(err, ERR_NO_RESOURCES, "It does not fit into memory.");
	if (ok) {
		freetype.version(library, &major, &minor, &patch);
		format_library(ret, "FreeType %d.%d.%d", major, minor, patch);
		ok = font_faces(library, &program, err);
	}
	if (library)
		freetype.done(library);
	text_out_end(&program.out);
	program_close(&program);
	return ok;
}
