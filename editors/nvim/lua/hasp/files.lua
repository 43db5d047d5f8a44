-- SPDX-License-Identifier: Apache-2.0
-- Files: what the agent reads of unsaved buffers and writes to them, and mentions of files in prompts.
local M = {}

-- Codes of the protocol's errors.
local NOT_FOUND, INVALID = -32002, -32602

local function real(path)
	return vim.loop.fs_realpath(path) or path
end

-- The loaded buffer of a file, or nil.
function M.buffer_of(path)
	for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
		local name = vim.api.nvim_buf_get_name(buffer)
		if name ~= "" and vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == ""
			and (name == path or real(name) == real(path)) then
			return buffer
		end
	end
end

-- A buffer's text as it would be saved, but for the line endings' kind.
function M.text_of(buffer)
	local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
	for i, line in ipairs(lines) do
		lines[i] = line:gsub("\n", "\0") -- which is how a buffer keeps a NUL
	end
	local ends = vim.bo[buffer].endofline or (vim.bo[buffer].fixendofline and not vim.bo[buffer].binary)
	if #lines == 1 and lines[1] == "" and not vim.bo[buffer].modified then
		return ""
	end
	return table.concat(lines, "\n") .. (ends and "\n" or "")
end

-- Lines as a buffer has them, and whether the last one ends.
function M.lines_of(text)
	local ends = text:sub(-1) == "\n"
	local lines = vim.split(ends and text:sub(1, -2) or text, "\n", { plain = true })
	for i, line in ipairs(lines) do
		lines[i] = line:gsub("%z", "\n")
	end
	return lines, ends
end

local function is_utf8(text)
	local at = text:find("[\128-\255]")
	while at do
		local _, last = text:find("^[\194-\223][\128-\191]", at)
		if not last then
			_, last = text:find("^[\224-\239][\128-\191][\128-\191]", at)
		end
		if not last then
			_, last = text:find("^[\240-\244][\128-\191][\128-\191][\128-\191]", at)
		end
		if not last then
			return false
		end
		at = text:find("[\128-\255]", last + 1)
	end
	return true
end

-- fs/read_text_file: {content}, or nil, a code and a message.  A file without unsaved changes is read
-- from disk by hasp itself.
function M.read(params)
	local buffer = type(params.path) == "string" and M.buffer_of(params.path)
	if not buffer or not vim.bo[buffer].modified then
		return nil, NOT_FOUND, "Neovim has no unsaved changes of this file."
	end
	local text = M.text_of(buffer)
	if not is_utf8(text) then
		return nil, INVALID, "The unsaved text is not valid UTF-8."
	end
	if params.line or params.limit then
		local lines = vim.split(text, "\n", { plain = true })
		local first = math.max(params.line or 1, 1)
		local last = params.limit and first + params.limit - 1 or #lines
		text = table.concat(vim.list_slice(lines, first, math.min(last, #lines)), "\n")
	end
	return { content = text }
end

-- Replaces only the lines that differ, so that marks and cursors elsewhere stay.
local function replace(buffer, lines)
	local old = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
	local first, last_old, last_new = 1, #old, #lines
	while first <= last_old and first <= last_new and old[first] == lines[first] do
		first = first + 1
	end
	while last_old >= first and last_new >= first and old[last_old] == lines[last_new] do
		last_old, last_new = last_old - 1, last_new - 1
	end
	vim.api.nvim_buf_set_lines(buffer, first - 1, last_old, true,
		vim.list_slice(lines, first, last_new))
end

-- fs/write_text_file: {}, or nil, a code and a message.  The buffer stays unsaved.
function M.write(params)
	local buffer = type(params.path) == "string" and M.buffer_of(params.path)
	if not buffer or type(params.content) ~= "string" then
		return nil, NOT_FOUND, "Neovim has not opened this file."
	end
	if not vim.bo[buffer].modifiable or vim.bo[buffer].readonly then
		return nil, INVALID, "The buffer of this file cannot be changed."
	end
	local lines, ends = M.lines_of(params.content)
	replace(buffer, lines)
	vim.bo[buffer].endofline = ends
	if not ends then
		vim.bo[buffer].fixendofline = false
	end
	return vim.empty_dict()
end

-- Reads a buffer again whose file the agent has changed.  No modeline counts: the text is a model's.
function M.reload(path)
	local buffer = M.buffer_of(path)
	if not buffer or vim.bo[buffer].modified then
		return
	end
	local modeline, autoread = vim.bo[buffer].modeline, vim.bo[buffer].autoread
	vim.bo[buffer].modeline, vim.bo[buffer].autoread = false, true
	vim.cmd("checktime " .. buffer)
	vim.bo[buffer].modeline, vim.bo[buffer].autoread = modeline, autoread
end

-- ---- mentions

-- "@name" as it is typed: blanks and backslashes are quoted by a backslash.
function M.mention(path, first, last)
	local relative = vim.fn.fnamemodify(path, ":.")
	local lines = first and ("#L%d%s"):format(first, last ~= first and "-" .. last or "") or ""
	return "@" .. relative:gsub("[%s\\]", "\\%0") .. lines
end

-- The file's path, and lines of it ("12" or "12-20"), or nil: it is no file.
local function mentioned(word)
	local name, lines = word:match("^(.-)#L([%d%-]+)$")
	name = (name or word):gsub("\\(.)", "%1")
	local path = name:sub(1, 1) == "/" and name or vim.fn.getcwd() .. "/" .. name
	if name ~= "" and vim.loop.fs_stat(path) then
		return path, lines
	end
end

-- The end of the word that begins at `at`.
local function word_end(text, at)
	while at <= #text and not text:find("^%s", at) do
		at = at + (text:sub(at, at) == "\\" and 2 or 1)
	end
	return math.min(at, #text + 1) - 1
end

-- A prompt's content: each "@name" that is a file is a link to it, all else text.
function M.content(text)
	local blocks, from, at = {}, 1, 1
	local function say(last)
		if last >= from then
			table.insert(blocks, { type = "text", text = text:sub(from, last) })
		end
	end
	while true do
		at = text:find("@", at, true)
		if not at then
			break
		end
		local last = word_end(text, at + 1)
		local path, lines = mentioned(text:sub(at + 1, last))
		if path and (at == 1 or text:find("^%s", at - 1)) then
			say(at - 1)
			table.insert(blocks, {
				type = "resource_link", name = vim.fn.fnamemodify(path, ":t"),
				uri = vim.uri_from_fname(path) .. (lines and "#L" .. lines or ""),
			})
			from = last + 1
		end
		at = last + 1
	end
	say(#text)
	return blocks
end

return M
