import { describe, expect, it } from 'vitest';
import { decodeDomainName, encodeDomainName } from '#domain/contracts/dns-records.js';
import { errorCode } from '#test/support/error-code.js';

const encoded = (name: string): string => Buffer.from(encodeDomainName(name)).toString();

describe('a domain name', () => {
  it('is written label by label, the last first', () => {
    expect(encoded('ton')).toBe('\0ton\0');
    expect(encoded('alice.ton')).toBe('\0ton\0alice\0');
    expect(encoded('a.b.c.')).toBe('\0c\0b\0a\0');
    expect(encoded('Alice.TON')).toBe('\0ton\0alice\0');
    expect(encoded('käse.ton')).toBe('\0ton\0käse\0');
  });

  it('may be none: the resolver itself', () => {
    expect(encoded('')).toBe('\0');
    expect(encoded('.')).toBe('\0');
  });

  it('is refused with empty labels, blanks, control characters, and too many bytes', () => {
    for (const name of [
      '..',
      '.ton',
      'a..ton',
      'a b.ton',
      'a\0b.ton',
      'a\n.ton',
      'x'.repeat(126),
      `${'ü'.repeat(63)}`,
    ]) {
      expect({ [name]: errorCode(() => encodeDomainName(name)) }).toEqual({ [name]: 'contract-data/domain-name' });
    }
    expect(encodeDomainName('x'.repeat(125))).toHaveLength(127);
  });

  it('is read back with a dot at the end', () => {
    const read = (text: string): string => decodeDomainName(Buffer.from(text));
    expect(read('\0ton\0alice\0')).toBe('alice.ton.');
    expect(read('\0ton')).toBe('ton.');
    expect(read('ton\0')).toBe('ton.');
    expect(read('\0')).toBe('.');
    expect(read('')).toBe('.');
  });
});
