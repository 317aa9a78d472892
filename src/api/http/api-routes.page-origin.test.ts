import { expect, it } from 'vitest';
import { refuseCrossOriginPage } from '#api/http/api-routes.js';
import { errorCode } from '#test/support/error-code.js';

const HOST = '127.0.0.1:8081';

const taken: readonly Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { origin: 'http://localhost:3000' },
  { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://app.localhost' },
  { origin: 'http://127.0.0.1:5173' },
  { origin: 'http://127.8.9.10' },
  { origin: 'http://[::1]:4000' },
  { origin: 'http://10.0.0.5:8081', host: '10.0.0.5:8081' },
  { origin: 'http://[fd00::5]:8081', host: '[fd00::5]:8081' },
];

const refused: readonly Record<string, string>[] = [
  { origin: 'null' },
  { origin: '' },
  { origin: 'http://' },
  { origin: 'https://evil.example' },
  { origin: 'http://localhost.evil.example' },
  { origin: 'http://evil-localhost' },
  { origin: 'http://127.0.0.1.evil.example' },
  { origin: 'http://10.0.0.5:3000' },
  // The port of the server behind a name that somebody else points at it.
  { origin: 'http://evil.example:8081', host: 'evil.example:8081', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
];

it.each(taken)('takes %o', (headers) => {
  for (const method of ['GET', 'POST'])
    expect(() => refuseCrossOriginPage(method, { host: HOST, ...headers })).not.toThrow();
});

it.each(refused)('refuses %o', (headers) => {
  expect(errorCode(() => refuseCrossOriginPage('POST', { host: HOST, ...headers }))).toBe('http/foreign-page');
  if (headers.origin === undefined) return;
  expect(errorCode(() => refuseCrossOriginPage('GET', { host: HOST, ...headers }))).toBe('http/foreign-page');
});
