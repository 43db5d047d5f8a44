-- SPDX-License-Identifier: Apache-2.0
-- The command :Hasp, a table of what it does, and the window in which prompts are written.
if vim.g.loaded_hasp then
	return
end
vim.g.loaded_hasp = true

local function hasp()
	return require("hasp")
end

-- ---- the prompt's buffer

-- Names that complete a word: commands after a slash at the beginning, files after an @.
local function candidates(word)
	local found = {}
	if word:sub(1, 1) == "/" then
		for _, command in ipairs(hasp().state.commands) do
			table.insert(found, { word = "/" .. command.name, menu = command.description })
		end
	elseif word:sub(1, 1) == "@" then
		for _, path in ipairs(vim.fn.getcompletion(word:sub(2), "file")) do
			table.insert(found, "@" .. path)
		end
	end
	return vim.tbl_filter(function(one)
		return vim.startswith(type(one) == "table" and one.word or one, word)
	end, found)
end

-- 'completefunc' of the prompt's buffer (CTRL-X CTRL-U).
function _G.hasp_complete(find_start, base)
	if find_start == 1 then
		local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col(".") - 1)
		return #before - #before:match("%S*$")
	end
	return candidates(base)
end

local function send_buffer(buffer)
	local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
	vim.api.nvim_buf_set_lines(buffer, 0, -1, true, { "" })
	vim.bo[buffer].modified = false
	hasp().send(text)
end

local function prompt_buffer()
	local buffer = vim.fn.bufnr("^hasp://prompt$")
	if buffer >= 0 then
		return buffer
	end
	buffer = vim.api.nvim_create_buf(false, true)
	vim.api.nvim_buf_set_name(buffer, "hasp://prompt")
	vim.bo[buffer].buftype, vim.bo[buffer].modeline = "acwrite", false
	vim.bo[buffer].completefunc = "v:lua.hasp_complete"
	local function send()
		send_buffer(buffer)
	end
	vim.keymap.set("n", "<CR>", send, { buffer = buffer, desc = "hasp: send the prompt" })
	vim.keymap.set("i", "<C-s>", send, { buffer = buffer, desc = "hasp: send the prompt" })
	vim.keymap.set("n", "<C-c>", hasp().cancel, { buffer = buffer, desc = "hasp: cancel" })
	vim.api.nvim_create_autocmd("BufWriteCmd", { buffer = buffer, callback = send })
	return buffer
end

local function open()
	hasp().open()
	local buffer = prompt_buffer()
	local window = vim.fn.win_findbuf(buffer)[1]
	if window then
		vim.api.nvim_set_current_win(window)
	else
		vim.cmd("belowright 5split")
		vim.api.nvim_win_set_buf(0, buffer)
		vim.wo.winfixheight = true
	end
end

-- Puts the current file, or the range's lines of it, into the prompt.
local function mention(_, range)
	local name = vim.api.nvim_buf_get_name(0)
	local word = require("hasp.files").mention(name, range and range[1], range and range[2])
	local buffer = prompt_buffer()
	local last = vim.api.nvim_buf_get_lines(buffer, -2, -1, true)[1]
	vim.api.nvim_buf_set_lines(buffer, -2, -1, true,
		{ last .. (last == "" and "" or " ") .. word .. " " })
end

-- ---- the command

local COMMANDS = {
	open = open,
	send = function(rest)
		hasp().send(rest)
	end,
	answer = function(rest)
		hasp().answer(rest ~= "" and rest or nil)
	end,
	review = function()
		hasp().review()
	end,
	cancel = function()
		hasp().cancel()
	end,
	mention = mention,
	mode = function(rest)
		hasp().set("mode", rest ~= "" and rest or nil)
	end,
	model = function(rest)
		hasp().set("model", rest ~= "" and rest or nil)
	end,
	set = function(rest)
		local id, value = rest:match("^(%S+)%s*(.*)$")
		hasp().set(id or "", value ~= "" and value or nil)
	end,
	new = function()
		hasp().new()
	end,
	resume = function(rest)
		if rest ~= "" then
			hasp().new(rest)
		else
			hasp().resume()
		end
	end,
	stop = function()
		hasp().stop()
	end,
}

vim.api.nvim_create_user_command("Hasp", function(given)
	local name, rest = given.args:match("^(%S*)%s*(.*)$")
	local command = COMMANDS[name == "" and "open" or name]
	if not command then
		vim.notify((":Hasp has no command %s"):format(name), vim.log.levels.ERROR)
		return
	end
	command(rest, given.range > 0 and { given.line1, given.line2 } or nil)
end, {
	nargs = "*", range = true, desc = "hasp, the coding agent",
	complete = function(start)
		local names = vim.tbl_filter(function(name)
			return vim.startswith(name, start)
		end, vim.tbl_keys(COMMANDS))
		table.sort(names)
		return names
	end,
})

-- Neovim's end is the agent's.
vim.api.nvim_create_autocmd("VimLeavePre", { callback = function()
	if package.loaded.hasp then
		hasp().stop()
	end
end })
