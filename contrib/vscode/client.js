// The Language Server Protocol over a process: frames, requests with answers, and notifications.
//
// It knows nothing of the editor. What it does not use of the protocol is left out.

'use strict';

const { spawn } = require('node:child_process');

const HEADER_END = Buffer.from('\r\n\r\n');

class Client {
  // `handlers` has `notification(method, params)`, `request(method, params)` with the answer, and `ended(why)`.
  constructor(program, words, handlers) {
    this.handlers = handlers;
    this.next = 1;
    this.waiting = new Map();
    this.received = Buffer.alloc(0);
    this.isOver = false;
    this.said = '';
    this.process = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.process.on('error', (error) => this.end(`${program}: ${error.message}`));
    this.process.on('exit', (code, signal) => this.end(`the server ended (${signal ?? code})`));
    this.process.stdout.on('data', (bytes) => this.receive(bytes));
    this.process.stderr.on('data', (bytes) => {
      this.said = (this.said + bytes).slice(-2000);
    });
    // The end of the process says more.
    this.process.stdin.on('error', () => {});
  }

  // Asks; the answer comes later. It fails where the server refuses or ends.
  request(method, params) {
    if (this.isOver) {
      return Promise.reject(new Error('the server has ended'));
    }
    const id = this.next;
    this.next += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method, params) {
    if (!this.isOver) {
      this.send({ jsonrpc: '2.0', method, params });
    }
  }

  // Ends the session as the protocol says.
  async stop() {
    if (this.isOver) {
      return;
    }
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    try {
      await this.request('shutdown', null);
      this.notify('exit', null);
    } catch {
      this.process.kill();
    }
    await ended;
  }

  send(message) {
    const body = Buffer.from(JSON.stringify(message));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  receive(bytes) {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      const end = this.received.indexOf(HEADER_END);
      if (end < 0) {
        return;
      }
      const length = /content-length: *(\d+)/i.exec(this.received.subarray(0, end).toString('ascii'));
      if (length === null) {
        this.process.kill();
        return;
      }
      const start = end + HEADER_END.length;
      const stop = start + Number(length[1]);
      if (this.received.length < stop) {
        return;
      }
      const body = this.received.subarray(start, stop).toString('utf8');
      this.received = this.received.subarray(stop);
      this.take(JSON.parse(body));
    }
  }

  take(message) {
    if (message.method === undefined) {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error !== undefined) {
        waiting?.reject(new Error(message.error.message));
      } else {
        waiting?.resolve(message.result);
      }
    } else if (message.id === undefined) {
      this.handlers.notification(message.method, message.params);
    } else {
      const answer = Promise.resolve().then(() => this.handlers.request(message.method, message.params));
      answer.then(
        (result) => this.send({ jsonrpc: '2.0', id: message.id, result: result ?? null }),
        (error) => this.send({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: String(error) } }),
      );
    }
  }

  end(why) {
    if (this.isOver) {
      return;
    }
    this.isOver = true;
    const said = this.said.trim();
    const error = new Error(said === '' ? why : `${why}: ${said}`);
    for (const { reject } of this.waiting.values()) {
      reject(error);
    }
    this.waiting.clear();
    this.handlers.ended(error.message);
  }
}

module.exports = { Client };
