import { describe, expect, it } from 'vitest';
import { jsonValue as jsonValueOf } from '#api/stream/request-json.js';

const jsonValue = (text: string) => jsonValueOf(Buffer.from(text));

describe('a request to subscribe as JSON', () => {
  it.each([
    ['objects', `[${'{},'.repeat(10_000)}{}]`, 'more than 10000 names, objects and lists'],
    [
      'names',
      `{${Array.from({ length: 10_001 }, (_, i) => `"n${i}":0`).join(',')}}`,
      'more than 10000 names, objects and lists',
    ],
    ['items', `[${'1,'.repeat(32_769)}1]`, 'more than 32768 items'],
    ['levels', `${'['.repeat(17)}${']'.repeat(17)}`, 'more than 16 levels'],
  ])('is refused before it is parsed when it has too many %s', (_, text, problem) => {
    expect(() => jsonValue(text)).toThrow(problem);
  });

  it('is counted without the contents of texts, however they are escaped', () => {
    const text = `"${'{[:,'.repeat(20_000)}\\\\\\"${',{'.repeat(20_000)}"`;
    expect(jsonValue(`[${text},${text}]`)).toEqual([JSON.parse(text), JSON.parse(text)]);
  });

  it('is taken with as many addresses as a message can hold', () => {
    const addresses = Array.from({ length: 14_000 }, (_, i) => `0:${String(i).padStart(64, '0')}`);
    expect(jsonValue(JSON.stringify({ operation: 'subscribe', addresses }))).toEqual({
      operation: 'subscribe',
      addresses,
    });
    const subscriptions = Object.fromEntries(addresses.slice(0, 4_096).map((address) => [address, ['transactions']]));
    expect(jsonValue(JSON.stringify({ subscriptions }))).toEqual({ subscriptions });
  });
});
