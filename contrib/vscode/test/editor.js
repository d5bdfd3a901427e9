// A stand-in for the module `vscode`: as much of it as the extension uses, and a record of what it is told.

'use strict';

const Module = require('node:module');
const { pathToFileURL, fileURLToPath } = require('node:url');

class Uri {
  constructor(text) {
    this.text = text;
    this.fsPath = fileURLToPath(text);
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(path) {
    return new Uri(pathToFileURL(path).href);
  }
  toString() {
    return this.text;
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(line, character, lastLine, lastCharacter) {
    this.start = new Position(line, character);
    this.end = new Position(lastLine, lastCharacter);
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

// A list of listeners, as the editor's events are.
function event() {
  const listeners = [];
  const listen = (listener) => {
    listeners.push(listener);
    return { dispose: () => {} };
  };
  return { listen, fire: (value) => listeners.forEach((listener) => listener(value)) };
}

class Editor {
  constructor(settings) {
    this.settings = settings;
    this.diagnostics = new Map();
    this.commands = new Map();
    this.executed = [];
    this.messages = [];
    this.panels = [];
    this.documents = [];
    this.providers = {};
    this.status = { text: '', tooltip: '', show: () => {}, dispose: () => {} };
    this.events = { open: event(), change: event(), save: event(), close: event() };
    this.subscriptions = [];
  }

  document(path, text) {
    const document = { uri: Uri.file(path), languageId: 'c', version: 1, text, getText: () => document.text };
    this.documents.push(document);
    return document;
  }

  // What the extension gets as `vscode`.
  module() {
    const { events } = this;
    const simple = (names) => class {
      constructor(...values) {
        names.forEach((name, index) => {
          this[name] = values[index];
        });
      }
    };
    return {
      Uri, Position, Range, Diagnostic,
      Hover: simple(['contents']),
      MarkdownString: simple(['value']),
      CodeAction: simple(['title', 'kind']),
      CodeActionKind: { QuickFix: 'quickfix' },
      DiagnosticRelatedInformation: simple(['location', 'message']),
      Location: simple(['uri', 'range']),
      DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
      StatusBarAlignment: { Left: 1 },
      ViewColumn: { Beside: -2 },
      languages: {
        match: ({ language }, document) => (document.languageId === language ? 10 : 0),
        createDiagnosticCollection: () => ({
          set: (uri, found) => this.diagnostics.set(uri.toString(), found),
          forEach: (call) => this.diagnostics.forEach((found, uri) => call(new Uri(uri), found)),
          clear: () => this.diagnostics.clear(),
          dispose: () => this.diagnostics.clear(),
        }),
        registerHoverProvider: (_, provider) => this.provide('hover', provider),
        registerCodeActionsProvider: (_, provider) => this.provide('actions', provider),
      },
      window: {
        createStatusBarItem: () => this.status,
        createWebviewPanel: (kind, title, _, options) => {
          const panel = { kind, title, options, webview: { html: '' }, reveal: () => {}, onDidDispose: () => {}, dispose: () => {} };
          this.panels.push(panel);
          return panel;
        },
        showInformationMessage: (text) => this.messages.push(text),
        showWarningMessage: (text) => this.messages.push(text),
      },
      workspace: {
        textDocuments: this.documents,
        workspaceFolders: undefined,
        getConfiguration: () => ({ get: (name, otherwise) => this.settings[name] ?? otherwise }),
        onDidOpenTextDocument: events.open.listen,
        onDidChangeTextDocument: events.change.listen,
        onDidSaveTextDocument: events.save.listen,
        onDidCloseTextDocument: events.close.listen,
      },
      commands: {
        registerCommand: (name, run) => {
          this.commands.set(name, run);
          return { dispose: () => {} };
        },
        executeCommand: (...words) => {
          this.executed.push(words);
        },
      },
    };
  }

  provide(name, provider) {
    this.providers[name] = provider;
    return { dispose: () => {} };
  }

  // The extension, with this editor.
  load(path) {
    const module = this.module();
    const original = Module._load;
    Module._load = (request, ...rest) => (request === 'vscode' ? module : original(request, ...rest));
    try {
      delete require.cache[require.resolve(path)];
      return require(path);
    } finally {
      Module._load = original;
    }
  }

  // Waits for a condition; the limit only ends a test that would never end.
  async until(what, holds) {
    for (let round = 0; round < 60000; round += 1) {
      if (holds()) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`${what}: it never came`);
  }
}

module.exports = { Editor };
