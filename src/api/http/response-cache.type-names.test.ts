import { describe, expect, it } from 'vitest';
import { typeRenamer } from '#api/http/response-cache.js';

describe('types', () => {
  const rename = typeRenamer({ 'chain.blockIdExt': 'ton.blockIdExt', 'vm.cell': 'tvm.cell', same: 'same' });

  it('are renamed where they are values of @type', () => {
    const value = [{ '@type': 'vm.cell', b: { x: 1, '@type': 'chain.blockIdExt' } }, { '@type': 'vm.cells' }];
    expect(JSON.parse(rename(JSON.stringify(value)))).toEqual([
      { '@type': 'tvm.cell', b: { x: 1, '@type': 'ton.blockIdExt' } },
      { '@type': 'vm.cells' },
    ]);
  });

  it('are not looked for within texts, nor in other fields', () => {
    for (const value of [
      { text: '{"@type":"vm.cell"}' },
      { text: ',"@type":"vm.cell"' },
      { 'a,"@type': 'vm.cell' },
      { '{"@type': 'vm.cell' },
      { 'a\\"@type': 'vm.cell' },
      { type: 'vm.cell', 'x@type': 'vm.cell' },
      ['@type', 'vm.cell'],
      { text: 'a\\', other: '@type":"vm.cell' },
    ]) {
      expect(rename(JSON.stringify(value)), JSON.stringify(value)).toBe(JSON.stringify(value));
    }
  });
});
