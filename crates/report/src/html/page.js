'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const line = (place) => document.getElementById('line-' + place);

  function showLine(place, scroll) {
    document.querySelectorAll('.source tr.current').forEach((row) => row.classList.remove('current'));
    const row = line(place);
    if (row) {
      row.classList.add('current');
      if (scroll) row.scrollIntoView({ block: 'nearest' });
    }
    return row !== null;
  }

  function values(trace, upTo) {
    const shared = new Map(), own = new Map(), held = new Map();
    trace.rows.slice(0, upTo + 1).forEach((row) => {
      row.changes.forEach((change) => {
        const table = change.own ? (own.get(row.thread) || own.set(row.thread, new Map()).get(row.thread)) : shared;
        table.set(change.name, change.value);
      });
      held.set(row.thread, row.held);
    });
    return { shared, own, held };
  }

  function fill(panel, trace, at) {
    const { shared, own, held } = values(trace, at);
    const row = trace.rows[at];
    panel.textContent = '';
    const add = (title, entries) => {
      if (entries.length === 0) return;
      const term = panel.appendChild(document.createElement('dt'));
      term.textContent = title;
      entries.forEach(([text, isNew]) => {
        const entry = panel.appendChild(document.createElement('dd'));
        entry.textContent = text;
        if (isNew) entry.className = 'new';
      });
    };
    const isNew = (name, its) => row.changes.some((change) => change.name === name && change.own === its);
    add('shared', [...shared].map(([name, value]) => [name + ' = ' + value, isNew(name, false)]));
    trace.threads.forEach((name, thread) => {
      const entries = [...(own.get(thread) || [])].map(([key, value]) => [key + ' = ' + value, thread === row.thread && isNew(key, true)]);
      (held.get(thread) || []).forEach((lock) => entries.push(['holds ' + lock, false]));
      add('thread ' + thread + ': ' + name, entries);
    });
  }

  function markAutomaton(edge) {
    document.querySelectorAll('figure.automaton .current').forEach((node) => node.classList.remove('current'));
    if (!edge) return;
    const figure = document.querySelector('figure.automaton[data-template="' + edge[0] + '"]');
    const node = figure && figure.querySelector('g.edge[data-edge="' + edge[1] + '"]');
    if (node) node.classList.add('current');
  }

  data.traces.forEach((trace, number) => {
    const table = document.getElementById('trace-' + number);
    const panel = document.getElementById('values-' + number);
    if (!table || trace.rows.length === 0) return;
    const rows = [...table.querySelectorAll('tbody tr')];
    trace.rows.forEach((row) => { const source = line(row.place); if (source) source.classList.add('visited'); });
    let at = 0;
    const go = (to, focus) => {
      rows[at].classList.remove('current');
      at = Math.max(0, Math.min(rows.length - 1, to));
      rows[at].classList.add('current');
      table.dataset.step = String(at);
      if (focus) rows[at].scrollIntoView({ block: 'nearest' });
      showLine(trace.rows[at].place, false);
      fill(panel, trace, at);
      markAutomaton(trace.rows[at].edge);
    };
    rows.forEach((row, index) => row.addEventListener('click', () => go(index, false)));
    const other = (step) => {
      let to = at;
      while (to + step >= 0 && to + step < rows.length) {
        to += step;
        if (trace.rows[to].thread !== trace.rows[at].thread) break;
      }
      return to;
    };
    const keys = {
      ArrowDown: () => at + 1, j: () => at + 1, ArrowUp: () => at - 1, k: () => at - 1,
      Home: () => 0, End: () => rows.length - 1, n: () => other(1), p: () => other(-1),
    };
    table.parentElement.addEventListener('keydown', (event) => {
      const key = keys[event.key];
      if (!key || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      go(key(), true);
    });
    go(0, false);
    if (number === 0) table.parentElement.focus({ preventScroll: true });
  });

  document.querySelectorAll('figure.automaton').forEach((figure) => {
    const places = data.automata[figure.dataset.template] || {};
    figure.addEventListener('click', (event) => {
      const node = event.target.closest('g.location, g.edge');
      if (!node) return;
      const place = node.dataset.location ? (places.locations || {})[node.dataset.location] : (places.edges || {})[node.dataset.edge];
      markAutomaton(null);
      node.classList.add('current');
      if (place) showLine(place, true);
    });
  });

  document.querySelectorAll('.source tr').forEach((row) => {
    row.addEventListener('click', () => showLine(row.id.slice('line-'.length), false));
  });
})();
