-- Threadproof in Neovim, from 0.7 on: diagnostics, hovers (K), and executions by code actions.
-- Put this file into ~/.config/nvim/plugin/.

vim.api.nvim_create_autocmd("FileType", {
  pattern = "c",
  callback = function(event)
    local file = vim.api.nvim_buf_get_name(event.buf)
    local root = vim.fn.fnamemodify(vim.fn.findfile("threadproof.toml", vim.fn.fnamemodify(file, ":h") .. ";"), ":p:h")
    if vim.fn.findfile("threadproof.toml", vim.fn.fnamemodify(file, ":h") .. ";") == "" then
      root = vim.fn.fnamemodify(file, ":p:h")
    end
    -- One server for each root.
    _G.threadproof_clients = _G.threadproof_clients or {}
    local client = _G.threadproof_clients[root]
    if client == nil or vim.lsp.get_client_by_id(client) == nil then
      client = vim.lsp.start_client({
        name = "threadproof",
        cmd = { vim.g.threadproof_program or "threadproof", "lsp" },
        root_dir = root,
        workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      })
      _G.threadproof_clients[root] = client
    end
    if client ~= nil then
      vim.lsp.buf_attach_client(event.buf, client)
      local keys = { buffer = event.buf, silent = true }
      vim.keymap.set("n", "K", vim.lsp.buf.hover, keys)
      vim.keymap.set("n", "<leader>t", vim.lsp.buf.code_action, keys)
    end
  end,
})
