-- SPDX-License-Identifier: Apache-2.0
-- The conversation's buffer: blocks of lines, of which the last grows and others may be replaced.
-- What comes from a model is text and nothing else: no file type, no modeline, nothing concealed.
local M = {}

local space = vim.api.nvim_create_namespace("hasp")
local LINE_BYTES = 4096 -- a longer line is shown in pieces

local HIGHLIGHTS = {
	user = "Title", thought = "Comment", tool = "Identifier", question = "WarningMsg",
	notice = "Comment", plan = "Special", error = "ErrorMsg",
}

local View = {}
View.__index = View

-- Lines as they can be shown: no characters that change how others look.
local function lines_of(text)
	local lines = {}
	for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
		line = line:gsub("\r", ""):gsub("[%z\1-\8\11-\31\127]", function(byte)
			return ("\\x%02x"):format(byte:byte())
		end)
		-- Marks of direction: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
		line = line:gsub("\226\128[\142\143\170-\174]", "\\u{bidi}"):gsub("\226\129[\166-\169]", "\\u{bidi}")
		repeat
			table.insert(lines, line:sub(1, LINE_BYTES))
			line = line:sub(LINE_BYTES + 1)
		until line == ""
	end
	return lines
end

local function options(buffer)
	vim.bo[buffer].buftype = "nofile"
	vim.bo[buffer].bufhidden = "hide"
	vim.bo[buffer].swapfile = false
	vim.bo[buffer].modeline = false
	vim.bo[buffer].undolevels = -1
	vim.bo[buffer].modifiable = false
end

function M.new()
	local buffer = vim.api.nvim_create_buf(false, true)
	options(buffer)
	vim.api.nvim_buf_set_name(buffer, ("hasp://conversation/%d"):format(buffer))
	return setmetatable({ buffer = buffer, blocks = {} }, View)
end

-- Windows whose cursor is on the last line follow the text.
local function followers(view)
	local last, found = vim.api.nvim_buf_line_count(view.buffer), {}
	for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
		if vim.api.nvim_win_get_cursor(window)[1] >= last then
			table.insert(found, window)
		end
	end
	return found
end

local function set_lines(view, first, last, lines)
	if not vim.api.nvim_buf_is_valid(view.buffer) then
		return
	end
	local follow = followers(view)
	vim.bo[view.buffer].modifiable = true
	vim.api.nvim_buf_set_lines(view.buffer, first, last, true, lines)
	vim.bo[view.buffer].modifiable = false
	for _, window in ipairs(follow) do
		vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(view.buffer), 0 })
	end
end

local function start_of(view, block)
	return vim.api.nvim_buf_get_extmark_by_id(view.buffer, space, block.mark, {})[1]
end

local function colour(view, block, first, count)
	local group = HIGHLIGHTS[block.kind]
	for line = first, first + (group and count or 0) - 1 do
		vim.api.nvim_buf_add_highlight(view.buffer, space, group, line, 0, -1)
	end
end

-- A block of its own, after a blank line; `id` finds it again.
function View:add(kind, text, id)
	local lines = lines_of(text)
	local count = vim.api.nvim_buf_line_count(self.buffer)
	local is_empty = count == 1 and vim.api.nvim_buf_get_lines(self.buffer, 0, 1, true)[1] == ""
	local first = is_empty and 0 or count + 1
	set_lines(self, is_empty and 0 or count, is_empty and 1 or count,
		is_empty and lines or vim.list_extend({ "" }, lines))
	local block = { kind = kind, id = id, count = #lines, text = text }
	block.mark = vim.api.nvim_buf_set_extmark(self.buffer, space, first, 0, { right_gravity = false })
	colour(self, block, first, #lines)
	table.insert(self.blocks, block)
	if id then
		self.blocks[id] = block
	end
	return block
end

-- Puts other lines in the place of a block's.
function View:replace(block, text)
	if block.text == text then
		return
	end
	local first, lines = start_of(self, block), lines_of(text)
	set_lines(self, first, first + block.count, lines)
	block.mark = vim.api.nvim_buf_set_extmark(self.buffer, space, first, 0,
		{ id = block.mark, right_gravity = false })
	block.count, block.text = #lines, text
	colour(self, block, first, #lines)
end

-- A piece of a message: of the block at the end if it is the same message, else of a new one.
function View:append(kind, text, id)
	local block = self.blocks[#self.blocks]
	if not block or block.kind ~= kind or block.id ~= id then
		self:add(kind, text, id)
		return
	end
	local count = vim.api.nvim_buf_line_count(self.buffer)
	local last = vim.api.nvim_buf_get_lines(self.buffer, count - 1, count, true)[1]
	local lines = lines_of(text)
	lines[1] = last .. lines[1]
	set_lines(self, count - 1, count, lines)
	block.count = block.count + #lines - 1
	block.text = nil
	colour(self, block, count - 1, #lines)
end

function View:update(kind, text, id)
	if self.blocks[id] then
		self:replace(self.blocks[id], text)
	else
		self:add(kind, text, id)
	end
end

function View:clear()
	vim.api.nvim_buf_clear_namespace(self.buffer, space, 0, -1)
	self.blocks = {}
	set_lines(self, 0, -1, { "" })
end

-- Shows it: in the window that has it, else in a new one.
function View:show()
	local window = vim.fn.win_findbuf(self.buffer)[1]
	if window then
		vim.api.nvim_set_current_win(window)
	else
		vim.cmd("botright vsplit")
		vim.api.nvim_win_set_buf(0, self.buffer)
	end
	vim.wo.wrap, vim.wo.linebreak, vim.wo.conceallevel = true, true, 0
	vim.wo.number, vim.wo.relativenumber, vim.wo.spell, vim.wo.foldenable = false, false, false, false
	return vim.api.nvim_get_current_win()
end

return M
