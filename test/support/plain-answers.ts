// `fetch` of Node asks for compressed answers, and a fifth of what a test of large lists took was compressing and inflating them.
// Here it asks for them only where a test says so.
const ORIGINAL = Symbol.for('tern-tests.fetch');
const holder = globalThis as { [ORIGINAL]?: typeof fetch };

// The file is loaded again for each test file of a process.
holder[ORIGINAL] ??= globalThis.fetch;
const original = holder[ORIGINAL];

globalThis.fetch = (input, init = {}) => {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity');
  return original(input, { ...init, headers });
};
