import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BodyCursor, type DecodedObject, DecodingBudget } from '#domain/message-bodies/body-cursor.js';
import { MessageBodySchema, messageBodySchema } from '#domain/message-bodies/body-schema.js';
import { Builder } from '#formats/cells/builder.js';
import { errorCode } from '#test/support/error-code.js';

const text = readFileSync(new URL('../../../data/message-bodies/message-bodies.tlb', import.meta.url), 'utf8');
const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('//'));

/** Reads a cell as a type of a schema; `undefined` when it does not fit. */
function read(schema: MessageBodySchema, type: string, cell: Builder): unknown {
  const into: DecodedObject = {};
  const root = cell.endCell();
  const from = BodyCursor.open(root, new DecodingBudget(root), 0)!;
  return schema.type(type)(from, into, 'it') ? into.it : undefined;
}

describe('the schema of message bodies', () => {
  const opcodes = [
    ...new Set(lines.flatMap((line) => /^[\w,]+#(\w{8}) .*= (?:\w+Body|ForwardPayload);/.exec(line)?.[1] ?? [])),
  ];

  it('has a layout that can be compiled for each opcode', () => {
    const schema = new MessageBodySchema(text);
    expect(opcodes.length).toBe(498);
    for (const opcode of opcodes) {
      expect(schema.layouts(Number.parseInt(opcode, 16))?.length, opcode).toBeGreaterThan(0);
    }
  });

  it('has no type that cannot be compiled, and none twice', () => {
    const schema = new MessageBodySchema(text);
    const types = new Set(lines.map((line) => /= (\w+);$/.exec(line)?.[1] ?? 'Coins'));
    for (const type of types) if (!/Body$|^ForwardPayload$/.test(type)) schema.type(type);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it.each([
    [0, 'text_comment'],
    [1, 'evaa_supply_master,pyth_update_guardian_set,w4_deploy_install_plugin'],
    [0x0f8a7ea5, 'jetton_transfer'],
    [0x0bf3f447, 'tonco_account_refund_me'],
    [0x4eb1f0f9, 'change_dns_record'],
    [0xffffffff, 'bounce'],
    [0x12345678, null],
    [-1, null],
  ])('calls %i %s', (opcode, name) => {
    expect(messageBodySchema().opcodeName(opcode)).toBe(name);
    if (name === null) expect(messageBodySchema().layouts(opcode)).toBeNull();
  });
});

describe('a type of a schema', () => {
  const schema = new MessageBodySchema(
    [
      'low$0 = Bit1;',
      'high$1 = Bit1;',
      'a#1 = Choice;',
      '_ other:uint4 = Choice;',
      'b#2 x:Bool = Choice;',
      'sized$_ len:(## 4) { len <= 8 } data:(bits len) more:len?Bool = Sized;',
      'box$_ value:X = Box X;',
      '_ box:(Box ^[ n:int8 ]) raw:(Box uint16) = Boxes;',
      'list$1 next:List = List;',
      'end$0 = List;',
      'broken$_ x:Missing = Broken;',
      'odd$_ x:(VarUInteger n) = Odd;',
    ].join('\n'),
  );
  const bits = (digits: string) => {
    const cell = new Builder();
    for (const digit of digits) cell.storeBit(digit === '1');
    return cell;
  };

  it.each([
    ['Bit1', '1', true],
    ['Bit1', '', undefined],
    ['Choice', '0001', { '@type': 'a' }],
    ['Choice', '00101', { '@type': 'b', x: true }],
    ['Choice', '0010', undefined],
    ['Choice', '0111', { other: '7' }],
    ['Sized', '0000', { '@type': 'sized', len: '0', data: '' }],
    ['Sized', '01011010' + '11', { '@type': 'sized', len: '5', data: 'AC_', more: true }],
    ['Sized', '1001111111111', undefined],
    ['Sized', '010110101', undefined],
    ['List', '10', { '@type': 'list', next: { '@type': 'end' } }],
  ])('%s is read from %s', (type, digits, expected) => {
    expect(read(schema, type, bits(digits))).toEqual(expected);
  });

  it('may have a parameter, where references are seen', () => {
    const cell = new Builder().storeRef(new Builder().storeInt(-3, 8).endCell()).storeUint(500, 16);
    expect(read(schema, 'Boxes', cell)).toEqual({
      box: { '@type': 'box', value: { cell_reference: { n: '-3' } } },
      raw: { '@type': 'box', value: '500' },
    });
  });

  it.each(['Broken', 'Odd', 'Nothing'])('is refused when what it needs is not there: %s', (type) => {
    for (const time of ['once', 'again'])
      expect(
        errorCode(() => schema.type(type)),
        time,
      ).toBe('bodies/schema-type');
  });
});
