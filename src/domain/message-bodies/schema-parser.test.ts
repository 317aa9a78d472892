import { describe, expect, it } from 'vitest';
import { parseBodySchemaLine } from '#domain/message-bodies/schema-parser.js';
import { errorCode } from '#test/support/error-code.js';

const typeOf = (type: string) => {
  const part = parseBodySchemaLine(`_ field:${type} = T;`).parts[0];
  return part?.kind === 'field' ? part.type : undefined;
};
const name = (text: string, ...args: unknown[]) => ({ kind: 'name', name: text, args });
const number = (value: number) => ({ kind: 'number', value });

describe('a line of the schema', () => {
  it.each([
    ['top_up#d372158c = T;', 'top_up', 0xd372158c, 32],
    ['bool_true$11 = T;', 'bool_true', 3, 2],
    ['addr_none$00 = T;', 'addr_none', 0, 2],
    ['tonco#bf3f447 = T;', 'tonco', 0xbf3f447, 28],
    ['data#_ a:Cell = T;', 'data', 0, 0],
    ['_ a:Cell = T;', '', 0, 0],
    ['a,b#00000001 a:Cell = T;', 'a,b', 1, 32],
  ])('has a name and a tag: %s', (line, ...expected) => {
    const { name, tag, tagBits } = parseBodySchemaLine(line);
    expect([name, tag, tagBits]).toEqual(expected);
  });

  it('has fields, constraints, a result and its parameters', () => {
    expect(parseBodySchemaLine('x$_ depth:(#<= 30) { depth >= 1 } _:X = T;')).toEqual({
      name: 'x',
      tag: 0,
      tagBits: 0,
      parts: [
        { kind: 'field', name: 'depth', type: name('#<=', number(30)) },
        { kind: 'constraint', field: 'depth', least: 1, most: Number.POSITIVE_INFINITY },
        { kind: 'field', name: '', type: name('X') },
      ],
      result: 'T',
      parameters: [],
    });
    expect(parseBodySchemaLine('_ a:X = T X n;').parameters).toEqual(['X', 'n']);
  });

  it.each([
    ['uint64', name('uint64')],
    ['(## 5)', name('##', number(5))],
    ['#', name('#')],
    ['^Cell', { kind: 'reference', to: name('Cell') }],
    ['(Maybe ^Cell)', name('Maybe', { kind: 'reference', to: name('Cell') })],
    ['^(Hashmap 8 X)', { kind: 'reference', to: name('Hashmap', number(8), name('X')) }],
    ['(bits (len * 8))', name('bits', { kind: 'product', field: 'len', factor: 8 })],
    ['flags . 0?List', { kind: 'condition', field: 'flags', bit: 0, of: name('List') }],
    ['count?(Data)', { kind: 'condition', field: 'count', bit: null, of: name('Data') }],
    [
      '^[ a:Bool ]',
      { kind: 'reference', to: { kind: 'fields', parts: [{ kind: 'field', name: 'a', type: name('Bool') }] } },
    ],
  ])('has fields of type %s', (text, expected) => {
    expect(typeOf(text)).toEqual(expected);
  });

  it.each(['', 'x = T', 'x a = T;', 'x a:(Maybe = T;', 'x a:(5 6) = T;', 'x a:{ = T;', 'x a:Cell;', 'x a:@ = T;'])(
    'is refused when it is %j',
    (line) => {
      expect(errorCode(() => parseBodySchemaLine(line))).toBe('bodies/schema');
    },
  );
});
