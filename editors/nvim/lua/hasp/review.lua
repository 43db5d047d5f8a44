-- SPDX-License-Identifier: Apache-2.0
-- Reviews the diffs of a question in Neovim's diff mode: a tab with the file as it is and as it is
-- proposed.  ":diffget" (do) in the proposed text, or ":diffput" (dp) in the other, leaves a hunk out;
-- ":w" takes what the proposed text then is, and goes on to the next file.
--
--     review.open(diffs, function(results) end)
--
-- diffs: {path, oldText, newText, modifiable} as the protocol has them.  results: a text for each, or
-- false for one of which nothing is left.  It is not called if the tab is closed before.
local files = require("hasp.files")

local M = {}

local count = 0

local function scratch(text, name, buftype)
	local buffer = vim.api.nvim_create_buf(false, true)
	vim.bo[buffer].modeline = false
	vim.bo[buffer].swapfile = false
	vim.bo[buffer].bufhidden = "wipe"
	local lines, ends = files.lines_of(text)
	vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
	vim.bo[buffer].endofline = ends or text == ""
	vim.bo[buffer].fixendofline = false
	vim.bo[buffer].buftype = buftype
	vim.api.nvim_buf_set_name(buffer, name)
	vim.bo[buffer].modified = false
	return buffer
end

-- What the proposed text is now: exactly the proposal if its lines are unchanged.
local function result_of(buffer, diff)
	local text = files.text_of(buffer)
	local lines, ends = files.lines_of(diff.newText)
	if vim.deep_equal(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), lines)
		and vim.bo[buffer].endofline == (ends or diff.newText == "") then
		return diff.newText
	end
	return text
end

-- The syntax of the file's own buffer, which is no model's choice.
local function colour(buffer, path)
	local own = files.buffer_of(path)
	if own then
		vim.bo[buffer].syntax = vim.bo[own].filetype
	end
end

local function show(state)
	local diff = state.diffs[state.at]
	local old = diff.oldText
	local name = vim.fn.fnamemodify(diff.path, ":.")
	local function title(side)
		return ("hasp://%s/%d/%d/%s"):format(side, state.number, state.at, name)
	end
	local left = scratch(old or "", title("now"), "nofile")
	local right = scratch(diff.newText, title("proposed"), "acwrite")
	state.buffer, state.left = right, left
	vim.api.nvim_win_set_buf(state.windows[1], left)
	vim.api.nvim_win_set_buf(state.windows[2], right)
	vim.bo[left].modifiable = false
	vim.bo[right].modifiable = diff.modifiable and true or false
	for _, window in ipairs(state.windows) do
		colour(vim.api.nvim_win_get_buf(window), diff.path)
		vim.api.nvim_win_call(window, function()
			vim.cmd("diffthis")
		end)
		vim.wo[window].conceallevel = 0
	end
	vim.api.nvim_create_autocmd("BufWriteCmd", { buffer = right, callback = function()
		vim.bo[right].modified = false
		vim.schedule(function()
			M.take(state)
		end)
	end })
	vim.api.nvim_set_current_win(state.windows[2])
	pcall(vim.cmd, "normal! gg")
	vim.api.nvim_echo({ { ("hasp: %s (%d of %d): %s:w takes it"):format(name, state.at,
		#state.diffs, diff.modifiable and "do leaves a hunk out, " or "") } }, false, {})
end

-- Takes the file that is shown, and goes on.
function M.take(state)
	if state.closed or not vim.api.nvim_buf_is_valid(state.buffer) then
		return
	end
	local diff = state.diffs[state.at]
	local result = result_of(state.buffer, diff)
	state.results[state.at] = result ~= (diff.oldText or nil) and result or false
	state.at = state.at + 1
	if state.at <= #state.diffs then
		show(state)
		return
	end
	M.close(state)
	state.callback(state.results)
end

-- Closes the tab, if it is open; nothing is answered by it.
function M.close(state)
	if state.closed then
		return
	end
	state.closed = true
	if vim.api.nvim_tabpage_is_valid(state.tab) then
		if #vim.api.nvim_list_tabpages() == 1 then
			vim.cmd("tabnew")
		end
		vim.cmd("tabclose! " .. vim.api.nvim_tabpage_get_number(state.tab))
	end
end

function M.open(diffs, callback)
	count = count + 1
	vim.cmd("tabnew")
	local state = { diffs = diffs, callback = callback, at = 1, results = {}, number = count,
		tab = vim.api.nvim_get_current_tabpage() }
	vim.bo.bufhidden = "wipe"
	vim.cmd("rightbelow vsplit")
	state.windows = vim.api.nvim_tabpage_list_wins(state.tab)
	show(state)
	return state
end

return M
