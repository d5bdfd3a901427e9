// The extension with the real server. THREADPROOF names the program.

'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { Editor } = require('./editor.js');

const program = process.env.THREADPROOF ?? 'threadproof';
const RACE = '#include <pthread.h>\nint x;\nvoid *f(void *a) {\n  x = 1;\n  return 0;\n}\nint main(void) {\n'
  + '  pthread_t p;\n  pthread_create(&p, 0, f, 0);\n  x = 2;\n  pthread_join(p, 0);\n  return 0;\n}\n';
const LOCKED = RACE.replace('int x;', 'pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nint x;')
  .replace('x = 1;', 'pthread_mutex_lock(&m);\n  x = 1;\n  pthread_mutex_unlock(&m);')
  .replace('x = 2;', 'pthread_mutex_lock(&m);\n  x = 2;\n  pthread_mutex_unlock(&m);');

test('findings, hovers, the page of an execution, and the status', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'threadproof vscode-'));
  const file = path.join(folder, 'a ü.c');
  fs.writeFileSync(file, RACE);
  const editor = new Editor({ path: program });
  const document = editor.document(file, RACE);
  const extension = editor.load('../extension.js');
  try {
    await extension.activate(editor);
    assert.equal(editor.status.text, '$(sync~spin) Threadproof');
    await editor.until('the race', () => editor.status.text.includes('wrong'));
    const uri = document.uri.toString();
    const wrong = editor.diagnostics.get(uri).filter(({ severity }) => severity === 0);
    assert.deepEqual([...new Set(wrong.map(({ range }) => range.start.line))].sort((a, b) => a - b), [3, 9]);
    assert.match(wrong[0].message, /race on `x`/);
    assert.equal(wrong[0].source, 'threadproof');
    assert.match(editor.status.text, /^\$\(error\) Threadproof: \d+ wrong, 0 open$/);

    // The execution, as a page and as text.
    const actions = await editor.providers.actions.provideCodeActions(document, wrong[0].range);
    assert.deepEqual(actions.map(({ command }) => command.command), ['threadproof.showTrace', 'threadproof.showPage']);
    const run = ({ command }) => editor.commands.get(command.command)(...command.arguments);
    await run(actions[1]);
    await editor.until('the page', () => editor.panels.length === 1 && editor.panels[0].webview.html !== '');
    assert.match(editor.panels[0].webview.html, /^<!doctype html>[\s\S]*<\/html>\n$/);
    assert.equal(editor.panels[0].options.enableScripts, true);
    await run(actions[0]);
    await editor.until('the text', () => editor.executed.length === 1);
    assert.equal(editor.executed[0][0], 'markdown.showPreview');
    await editor.commands.get('threadproof.showFirst')();
    await editor.until('the page again', () => editor.panels.length === 1);
    assert.deepEqual(editor.messages, []);

    // After an edit nothing is shown until the file is saved; then what holds at a line is.
    document.text = LOCKED;
    document.version += 1;
    fs.writeFileSync(file, LOCKED);
    editor.events.change.fire({ document, contentChanges: [{}] });
    editor.events.save.fire(document);
    await editor.until('no race', () => editor.status.text === '$(check) Threadproof: no findings');
    const line = LOCKED.split('\n').indexOf('  x = 2;');
    const hover = await editor.providers.hover.provideHover(document, { line, character: 2 });
    assert.match(hover.contents.value, /^Whenever a thread is about to run this line:[\s\S]*m/);
    assert.equal(await editor.providers.hover.provideHover(document, { line: 0, character: 0 }), undefined);
    await editor.commands.get('threadproof.showFirst')();
    assert.deepEqual(editor.messages, ['Threadproof: there is no violation to show.']);

    // A server that was ended is started again on request.
    editor.events.close.fire(document);
    await editor.commands.get('threadproof.restart')();
    await editor.until('it works again', () => editor.status.text === '$(check) Threadproof: no findings');
  } finally {
    await extension.deactivate();
    fs.rmSync(folder, { recursive: true });
  }
});

test('without the program, the status says why', async () => {
  const editor = new Editor({ path: '/nowhere/threadproof' });
  const extension = editor.load('../extension.js');
  await extension.activate(editor);
  assert.equal(editor.status.text, '$(error) Threadproof');
  assert.match(editor.status.tooltip, /\/nowhere\/threadproof.*ENOENT/);
  await extension.deactivate();
});
