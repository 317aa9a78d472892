import { describe, expect, it } from 'vitest';
import { chooseProfile, typeRenamer } from '#api/http/profile.js';
import { errorCode } from '#test/support/error-code.js';

describe('the profile', () => {
  it('is chosen by the path, then by the header, then by the client, then by the server', () => {
    const client = { 'x-ton-client-version': '16' };
    expect(chooseProfile('toncenter', { 'x-tern-profile': 'spec' }, 'spec')).toBe('toncenter');
    expect(chooseProfile(null, { 'x-tern-profile': 'spec', ...client }, 'toncenter')).toBe('spec');
    expect(chooseProfile(null, { 'x-tern-profile': 'toncenter' }, 'spec')).toBe('toncenter');
    expect(chooseProfile(null, client, 'spec')).toBe('toncenter');
    expect(chooseProfile(null, {}, 'spec')).toBe('spec');
    expect(chooseProfile(null, {}, 'toncenter')).toBe('toncenter');
    for (const named of ['', 'Spec', 'both']) {
      expect(
        errorCode(() => chooseProfile(null, { 'x-tern-profile': named }, 'spec')),
        named,
      ).toBe('http/bad-parameter');
    }
  });
});

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
