import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as adnl from '#formats/tl/adnl.js';
import * as consensus from '#formats/tl/consensus.js';
import { decodeOne, encodeBoxed, type TlConstructor, type TlFunction } from '#formats/tl/constructor.js';
import * as liteApi from '#formats/tl/lite-api.js';
import { tlFunction, tlRecord, tlUnion, tlVariant } from '#formats/tl/schema-line.js';
import { errorOf } from '#test/support/error-code.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Lines that every schema has: types that every reader knows. */
const preamble =
  /^(\w+ \? = \w+|bytes data:string = Bytes|true = True|bool(True|False) = Bool|vector \{.*|int\d+ \d+\*.*);$/;

function linesOf(name: string): string[] {
  const text = readFileSync(`schemas/${name}`, 'utf8').replace(/\/\/.*$/gm, '');
  return text
    .replace(/---\w+---/g, '')
    .split(';')
    .map((line) => `${line.replace(/\s+/g, ' ').trim()};`)
    .filter((line) => line !== ';' && !preamble.test(line));
}

const published = new Map(
  readFileSync(vectorPath('tl/constructor-ids.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t') as [string, string])
    .map(([id, name]) => [name, Number.parseInt(id, 16)]),
);
const codecs = ([liteApi, adnl, consensus] as object[])
  .flatMap((each) => Object.values(each) as unknown[])
  .filter((each): each is TlConstructor => typeof each === 'object' && each !== null && 'line' in each);

describe('the codecs', () => {
  it('quote every line of the schemas', () => {
    const lines = new Set([...linesOf('lite_api.tl'), ...linesOf('adnl.tl')]);
    expect(codecs.map(({ line }) => line).sort()).toEqual([...lines].sort());
  });

  it('have the published constructor ids', () => {
    for (const { name, id } of codecs) expect(id, name).toBe(published.get(name));
    expect(new Set(codecs.map(({ name }) => name))).toEqual(new Set(published.keys()));
    expect(new Set(codecs.map(({ id }) => id)).size).toBe(codecs.length);
  });

  it('state an id in only three lines, which keep the id of an older form', () => {
    const stated = codecs.filter(({ line, id }) => crc32(line.replace(/[();]/g, '')) !== id);
    expect(stated.map(({ name }) => name).sort()).toEqual([
      'liteServer.getValidatorStats',
      'liteServer.signatureSet.ordinary',
      'liteServer.transactionId',
    ]);
    for (const { line } of stated) expect(line).toMatch(/^[\w.]+#[0-9a-f]{8} /);
  });
});

const two = tlRecord('a.two x:int = a.Two;');
const left = tlVariant('a.left y:long = a.Side;');
const right = tlVariant('a.right = a.Side;');
const side = tlUnion('a.Side', left, right);
const one = tlRecord(
  `a.one#0000000a flags:# x:flags.3?int on:flags.0?true list:(vector a.two)
     boxed:a.Two hashes:(vector int256) side:a.Side name:string = a.One;`,
  two,
  side,
);
const get = tlFunction('a.get id:int256 exact:Bool = a.One;', one);

describe('a schema line', () => {
  it('determines names, ids and types', () => {
    expect(one).toMatchObject({ name: 'a.one', id: 10, type: 'a.One', leastBytes: 4 + 4 + 8 + 4 + 4 + 4 });
    expect(get).toMatchObject({ name: 'a.get', result: one });
    expectTypeOf(one).toExtend<TlConstructor<'a.one', OneValue, 'a.One'>>();
    expectTypeOf<OneValue>().toEqualTypeOf<liteApiValue<typeof one>>();
    expectTypeOf(get).toExtend<TlFunction<'a.get', { readonly id: Uint8Array; readonly exact: boolean }, typeof one>>();
    expectTypeOf<liteApi.LiteServerTransactionId>().toEqualTypeOf<{
      readonly mode: number;
      readonly account: Uint8Array | null;
      readonly lt: bigint | null;
      readonly hash: Uint8Array | null;
      readonly metadata: liteApi.LiteServerTransactionMetadata | null;
    }>();
  });

  it('determines the bytes', () => {
    const value: OneValue = {
      flags: 9,
      x: -1,
      on: true,
      list: [{ x: 1 }, { x: 2 }],
      boxed: { x: 3 },
      hashes: [new Uint8Array(32).fill(7)],
      side: { kind: 'a.left', y: 5n },
      name: 'tern',
    };
    const bytes = encodeBoxed(one, value);
    expect(bytes.length).toBe(4 + 4 + 4 + (4 + 8) + 8 + (4 + 32) + 12 + 8);
    expect(decodeOne(one, bytes)).toEqual(value);
    expect(decodeOne(right, encodeBoxed(right, { kind: 'a.right' }))).toEqual({ kind: 'a.right' });
  });

  it.each([
    ['no line', 'a.one x:int', []],
    ['no field', 'a.one int = a.One;', []],
    ['a flag that does not exist', 'a.one x:mode.0?int = a.One;', []],
    ['a flag that is not a #', 'a.one mode:int x:mode.0?int = a.One;', []],
    ['a flag after the field', 'a.one x:mode.0?int mode:# = a.One;', []],
    ['a type that is not given', 'a.one x:a.two = a.One;', []],
    ['items without bytes', 'a.one x:(vector a.right) = a.One;', [right]],
    ['an optional vector', 'a.one mode:# x:mode.0?(vector int) = a.One;', []],
  ])('is refused: %s', (_, line, types) => {
    expect(errorOf(() => tlRecord(line as never, ...types)).code).toBe('tl/schema-line');
  });
});

type liteApiValue<C> = C extends TlConstructor<string, infer Value> ? Value : never;
interface OneValue {
  readonly flags: number;
  readonly x: number | null;
  readonly on: boolean;
  readonly list: readonly { readonly x: number }[];
  readonly boxed: { readonly x: number };
  readonly hashes: readonly Uint8Array[];
  readonly side: { readonly kind: 'a.left'; readonly y: bigint } | { readonly kind: 'a.right' };
  readonly name: string;
}
