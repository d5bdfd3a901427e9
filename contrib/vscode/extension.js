// Threadproof in Visual Studio Code: findings as diagnostics, what holds at a line as a hover, executions as a
// page in a web view, and the state of the verification in the status bar.
//
// The server does the work (`threadproof lsp`); this file translates between it and the editor.

'use strict';

const fs = require('node:fs/promises');
const vscode = require('vscode');
const { Client } = require('./client.js');

const SHOW_PAGE = 'threadproof.showPage';
const SHOW_TEXT = 'threadproof.showTrace';
const LANGUAGE = { language: 'c', scheme: 'file' };

let session;

// What belongs to one run of the server.
class Session {
  constructor() {
    this.diagnostics = vscode.languages.createDiagnosticCollection('threadproof');
    this.status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 0);
    this.status.command = 'threadproof.showFirst';
    this.pending = new Set();
    this.failed = '';
    this.panel = undefined;
    this.isStopped = false;
    const settings = vscode.workspace.getConfiguration('threadproof');
    const config = settings.get('config', '');
    const words = ['lsp', ...(config === '' ? [] : ['--config', config])];
    this.client = new Client(settings.get('path', 'threadproof'), words, {
      notification: (method, params) => this.note(method, params),
      request: (method, params) => this.answer(method, params),
      ended: (why) => this.ended(why),
    });
    this.ready = this.begin();
    // A failure is shown where the server ends.
    this.ready.catch(() => {});
    this.show();
  }

  async begin() {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri, name }) => ({ uri: uri.toString(), name }));
    await this.client.request('initialize', {
      processId: process.pid,
      rootUri: folders[0]?.uri ?? null,
      workspaceFolders: folders.length === 0 ? null : folders,
      capabilities: { window: { showDocument: { support: true } } },
    });
    this.client.notify('initialized', {});
    vscode.workspace.textDocuments.forEach((document) => this.opened(document));
  }

  opened(document) {
    if (vscode.languages.match(LANGUAGE, document) > 0) {
      this.pending.add(document.uri.toString());
      const { languageId, version } = document;
      const text = document.getText();
      this.client.notify('textDocument/didOpen', {
        textDocument: { uri: document.uri.toString(), languageId, version, text },
      });
      this.show();
    }
  }

  changed(document) {
    if (vscode.languages.match(LANGUAGE, document) > 0) {
      // What was found is about another text.
      this.pending.delete(document.uri.toString());
      this.client.notify('textDocument/didChange', {
        textDocument: { uri: document.uri.toString(), version: document.version },
        contentChanges: [{ text: document.getText() }],
      });
      this.show();
    }
  }

  saved(document) {
    if (vscode.languages.match(LANGUAGE, document) > 0) {
      this.pending.add(document.uri.toString());
      this.client.notify('textDocument/didSave', { textDocument: { uri: document.uri.toString() } });
      this.show();
    }
  }

  closed(document) {
    if (vscode.languages.match(LANGUAGE, document) > 0) {
      this.pending.delete(document.uri.toString());
      this.client.notify('textDocument/didClose', { textDocument: { uri: document.uri.toString() } });
      this.show();
    }
  }

  note(method, params) {
    if (method === 'textDocument/publishDiagnostics') {
      const uri = vscode.Uri.parse(params.uri);
      this.diagnostics.set(uri, params.diagnostics.map(diagnosticOf));
      // One verification answers for all files of its program.
      this.pending.delete(uri.toString());
      this.show();
    } else if (method === 'window/showMessage') {
      vscode.window.showInformationMessage(params.message);
    }
  }

  async answer(method, params) {
    if (method !== 'window/showDocument') {
      throw new Error(`there is no method ${method}`);
    }
    const uri = vscode.Uri.parse(params.uri);
    if (params.external && uri.fsPath.endsWith('.html')) {
      await this.showPage(uri);
    } else {
      await vscode.commands.executeCommand('markdown.showPreview', uri);
    }
    return { success: true };
  }

  // The page needs nothing but its own text, and its policy allows nothing else.
  async showPage(uri) {
    const text = await fs.readFile(uri.fsPath, 'utf8');
    if (this.panel === undefined) {
      this.panel = vscode.window.createWebviewPanel('threadproof', 'How it happens', vscode.ViewColumn.Beside, {
        enableScripts: true,
        localResourceRoots: [],
      });
      this.panel.onDidDispose(() => {
        this.panel = undefined;
      });
    }
    this.panel.webview.html = text;
    this.panel.reveal();
  }

  async hover(document, position) {
    const found = await this.client.request('textDocument/hover', {
      textDocument: { uri: document.uri.toString() },
      position: { line: position.line, character: position.character },
    });
    return found === null ? undefined : new vscode.Hover(new vscode.MarkdownString(found.contents.value));
  }

  async actions(document, range) {
    const found = await this.client.request('textDocument/codeAction', {
      textDocument: { uri: document.uri.toString() },
      range: { start: plain(range.start), end: plain(range.end) },
      context: { diagnostics: [] },
    });
    return found.map(({ title, diagnostics, command }) => {
      const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      action.diagnostics = diagnostics.map(diagnosticOf);
      action.command = command;
      return action;
    });
  }

  async execute(command, parameters) {
    try {
      await this.client.request('workspace/executeCommand', { command, arguments: parameters });
    } catch (error) {
      vscode.window.showWarningMessage(`Threadproof: ${error.message}`);
    }
  }

  // Shows the first violation that is known, as a page.
  async showFirst() {
    for (const [uri, found] of this.sorted()) {
      const wrong = found.find(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
      const document = vscode.workspace.textDocuments.find((known) => known.uri.toString() === uri.toString());
      if (wrong !== undefined && document !== undefined) {
        const actions = await this.actions(document, wrong.range);
        const page = actions.find(({ command }) => command.command === SHOW_PAGE);
        if (page !== undefined) {
          await this.execute(SHOW_PAGE, page.command.arguments);
          return;
        }
      }
    }
    vscode.window.showInformationMessage('Threadproof: there is no violation to show.');
  }

  sorted() {
    const all = [];
    this.diagnostics.forEach((uri, found) => all.push([uri, found]));
    return all.sort(([one], [other]) => (one.toString() < other.toString() ? -1 : 1));
  }

  // The status bar: that it works, what it found, or why it does not work.
  show() {
    let [errors, others] = [0, 0];
    this.diagnostics.forEach((_, found) => {
      const wrong = found.filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error).length;
      errors += wrong;
      others += found.length - wrong;
    });
    if (this.failed !== '') {
      this.status.text = '$(error) Threadproof';
      this.status.tooltip = `${this.failed}\nThe setting threadproof.path names the program.`;
      this.status.command = 'threadproof.restart';
    } else if (this.pending.size > 0) {
      this.status.text = '$(sync~spin) Threadproof';
      this.status.tooltip = 'Verifying.';
    } else if (errors + others > 0) {
      this.status.text = `$(${errors > 0 ? 'error' : 'info'}) Threadproof: ${errors} wrong, ${others} open`;
      this.status.tooltip = 'Lines with violations, and lines with open checks. Select it to see how the first violation happens.';
    } else {
      this.status.text = '$(check) Threadproof: no findings';
      this.status.tooltip = 'Nothing is wrong or open in the files as they were last saved.';
    }
    this.status.show();
  }

  ended(why) {
    if (!this.isStopped) {
      this.failed = why;
      this.pending.clear();
      this.diagnostics.clear();
      this.show();
    }
  }

  async stop() {
    this.isStopped = true;
    await this.client.stop();
    this.panel?.dispose();
    this.diagnostics.dispose();
    this.status.dispose();
  }
}

function plain({ line, character }) {
  return { line, character };
}

function rangeOf({ start, end }) {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

// A diagnostic of the protocol, as the editor has it. Severities count from 1 there, and from 0 here.
function diagnosticOf({ range, message, severity, code, source, relatedInformation }) {
  const diagnostic = new vscode.Diagnostic(rangeOf(range), message, (severity ?? 1) - 1);
  diagnostic.code = code;
  diagnostic.source = source;
  diagnostic.relatedInformation = (relatedInformation ?? []).map(({ location, message: text }) => {
    const place = new vscode.Location(vscode.Uri.parse(location.uri), rangeOf(location.range));
    return new vscode.DiagnosticRelatedInformation(place, text);
  });
  return diagnostic;
}

async function activate(context) {
  session = new Session();
  const { workspace, languages, commands } = vscode;
  context.subscriptions.push(
    workspace.onDidOpenTextDocument((document) => session.opened(document)),
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) {
        session.changed(document);
      }
    }),
    workspace.onDidSaveTextDocument((document) => session.saved(document)),
    workspace.onDidCloseTextDocument((document) => session.closed(document)),
    languages.registerHoverProvider(LANGUAGE, {
      provideHover: (document, position) => session.hover(document, position),
    }),
    languages.registerCodeActionsProvider(LANGUAGE, {
      provideCodeActions: (document, range) => session.actions(document, range),
    }),
    commands.registerCommand(SHOW_PAGE, (...parameters) => session.execute(SHOW_PAGE, parameters)),
    commands.registerCommand(SHOW_TEXT, (...parameters) => session.execute(SHOW_TEXT, parameters)),
    commands.registerCommand('threadproof.showFirst', () => session.showFirst()),
    commands.registerCommand('threadproof.restart', async () => {
      await session.stop();
      session = new Session();
      await session.ready.catch(() => {});
    }),
  );
  // Without the server, the status bar says why.
  await session.ready.catch(() => {});
}

async function deactivate() {
  await session?.stop();
}

module.exports = { activate, deactivate };
