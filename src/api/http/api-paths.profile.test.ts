import { describe, expect, it } from 'vitest';
import { chooseProfile } from '#api/http/api-paths.js';
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
