import { readFileSync } from 'node:fs';
import { Address as CoreAddress } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address, crc16, parseAddress } from '#formats/address/address.js';
import { isTernError } from '#kernel/tern-error.js';
import { errorOf } from '#test/support/error-code.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const HASH = '83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
const FRIENDLY = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';

/** 36 bytes in base64 with a right checksum. */
function friendly(tag: number, workchain = 0): string {
  const bytes = Buffer.concat([Buffer.from([tag, workchain]), Buffer.from(HASH, 'hex'), Buffer.alloc(2)]);
  bytes.writeUInt16BE(crc16(bytes, 34), 34);
  return bytes.toString('base64url');
}

describe('what is read', () => {
  const raw = { form: 'raw', bounceable: null, testnet: null, urlSafe: null };
  const rows: readonly [string, string, object][] = [
    [`0:${HASH}`, `0:${HASH}`, raw],
    [`0:${HASH.toUpperCase()}`, `0:${HASH}`, raw],
    [`-1:${HASH}`, `-1:${HASH}`, raw],
    [`2147483647:${HASH}`, `2147483647:${HASH}`, raw],
    [`-2147483648:${HASH}`, `-2147483648:${HASH}`, raw],
    [FRIENDLY, `0:${HASH}`, { form: 'friendly', bounceable: true, testnet: false, urlSafe: true }],
    [friendly(0x11, 0xff), `-1:${HASH}`, { form: 'friendly', bounceable: true, testnet: false, urlSafe: true }],
    [friendly(0x11, 0x80), `-128:${HASH}`, { form: 'friendly', bounceable: true, testnet: false, urlSafe: true }],
    [friendly(0x51), `0:${HASH}`, { form: 'friendly', bounceable: false, testnet: false, urlSafe: true }],
    [friendly(0x91), `0:${HASH}`, { form: 'friendly', bounceable: true, testnet: true, urlSafe: true }],
    [friendly(0xd1), `0:${HASH}`, { form: 'friendly', bounceable: false, testnet: true, urlSafe: true }],
    [
      'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF',
      `-1:${'3'.repeat(64)}`,
      { form: 'friendly', bounceable: true, testnet: false, urlSafe: true },
    ],
  ];
  it.each(rows)('%s', (text, expected, flags) => {
    const { address, ...rest } = parseAddress(text);
    expect(address.toRaw()).toBe(expected);
    expect(rest).toEqual(flags);
  });

  it('in standard base64 is the same, but not safe in a URL', () => {
    const address = Address.ofParts(0, new Uint8Array(32).fill(0xfb));
    const parsed = parseAddress(address.toFriendly({ urlSafe: false }));
    expect(parsed.urlSafe).toBe(false);
    expect(parsed.address.equals(address)).toBe(true);
  });
});

describe('what is refused', () => {
  const rows: readonly [string, string, string, number | undefined][] = [
    ['nothing', '', 'address/length', undefined],
    ['one character less', FRIENDLY.slice(1), 'address/length', undefined],
    ['one more', `${FRIENDLY}A`, 'address/length', undefined],
    ['a space in front', ` ${FRIENDLY}`, 'address/length', undefined],
    ['padding', `${FRIENDLY.slice(0, 47)}=`, 'address/character', 47],
    ['a dot', `${FRIENDLY.slice(0, 7)}.${FRIENDLY.slice(8)}`, 'address/character', 7],
    ['a letter beyond Latin-1', `${FRIENDLY.slice(0, 7)}ŁA${FRIENDLY.slice(9)}`, 'address/character', 7],
    ['a face', `${FRIENDLY.slice(0, 7)}😀${FRIENDLY.slice(9)}`, 'address/character', 7],
    ['both alphabets', `${FRIENDLY.slice(0, 7)}+AA_${FRIENDLY.slice(11)}`, 'address/mixed-alphabets', 10],
    [
      'both alphabets, the other way',
      `${FRIENDLY.slice(0, 7)}-AA/${FRIENDLY.slice(11)}`,
      'address/mixed-alphabets',
      10,
    ],
    ['another last character', `${FRIENDLY.slice(0, 47)}M`, 'address/checksum', 45],
    ['two characters exchanged', 'EQC3D9VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N', 'address/checksum', 45],
    ['a tag of nothing', friendly(0x00), 'address/tag', 0],
    ['a tag of nothing, testnet', friendly(0x80), 'address/tag', 0],
    ['a tag beside the known ones', friendly(0x31), 'address/tag', 0],
    ['no workchain', `:${HASH}`, 'address/workchain', 0],
    ['a sign alone', `-:${HASH}`, 'address/workchain', 0],
    ['minus zero', `-0:${HASH}`, 'address/workchain', 0],
    ['a leading zero', `00:${HASH}`, 'address/workchain', 0],
    ['2^31', `2147483648:${HASH}`, 'address/workchain', 0],
    ['-2^31-1', `-2147483649:${HASH}`, 'address/workchain', 0],
    ['2^32', `4294967296:${HASH}`, 'address/workchain', 0],
    ['many digits', `${'1'.repeat(5000)}:${HASH}`, 'address/workchain', 0],
    ['a plus', `+1:${HASH}`, 'address/character', 0],
    ['a fraction', `1.5:${HASH}`, 'address/character', 1],
    ['a second sign', `--1:${HASH}`, 'address/character', 1],
    ['no hash', '0:', 'address/hash-length', 2],
    ['63 digits', `0:${HASH.slice(1)}`, 'address/hash-length', 2],
    ['65 digits', `-1:${HASH}0`, 'address/hash-length', 3],
    ['a digit that is none', `0:${HASH.slice(0, 10)}g${HASH.slice(11)}`, 'address/character', 12],
    ['a digit beyond Latin-1', `0:${HASH.slice(0, 11)}ı${HASH.slice(12)}`, 'address/character', 13],
    ['a second colon', `0:${HASH.slice(0, 63)}:`, 'address/character', 65],
  ];
  it.each(rows)('%s', (_name, text, code, offset) => {
    const error = errorOf(() => parseAddress(text));
    expect(error.code).toBe(code);
    expect(error.data.offset).toBe(offset);
    expect(error.message.length).toBeLessThan(200);
    expect(error.class).toBe('caller');
  });

  it('any single character changed', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < 48; at++) {
      for (const other of alphabet) {
        if (other === FRIENDLY[at]) continue;
        const text = FRIENDLY.slice(0, at) + other + FRIENDLY.slice(at + 1);
        expect(errorOf(() => parseAddress(text)).code, text).toBe('address/checksum');
      }
    }
  });

  it('any other text, always with an error of its own', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.string({ unit: 'binary-ascii', minLength: 48, maxLength: 48 }),
      fc.string({ unit: 'binary', maxLength: 70 }).map((text) => `0:${text}`),
    );
    fc.assert(
      fc.property(texts, (text) => isTernError(errorOf(() => parseAddress(text)))),
      { numRuns: 2000 },
    );
  });
});

describe('against @ton/core', () => {
  function compare(text: string): void {
    const ours = parseAddress(text);
    expect(ours.address.toRaw(), text).toBe(CoreAddress.parse(text).toRawString());
    if (ours.form === 'raw') return;
    const theirs = CoreAddress.parseFriendly(text);
    expect([ours.bounceable, ours.testnet], text).toEqual([theirs.isBounceable, theirs.isTestOnly]);
  }

  it('generated addresses', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
    // @ton/core reads the workchains -128..-2 of the user-friendly form as 128..254.
    const workchain = fc.integer({ min: -1, max: 127 });
    fc.assert(
      fc.property(
        workchain,
        hash,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (wc, bytes, bounceable, testOnly, urlSafe) => {
          const address = new CoreAddress(wc, Buffer.from(bytes));
          compare(address.toString({ bounceable, testOnly, urlSafe }));
          compare(address.toRawString());
        },
      ),
      { numRuns: 500 },
    );
  });

  const recorded = vectorPath('collection/recorded-net/addresses.json.br');
  const accounts = vectorPath('collection/accounts/inspect_contracts.json');
  it('all addresses of the recorded network and of the accounts', () => {
    const network: { address: string; friendly: string }[] = JSON.parse(Buffer.from(readBytes(recorded)).toString());
    for (const { address, friendly: text } of network) {
      compare(address);
      compare(text);
      expect(parseAddress(address).address.toFriendly()).toBe(text);
    }
    const contracts: { account: string }[] = JSON.parse(readFileSync(accounts, 'utf8'));
    for (const { account } of contracts) compare(account);
    expect(network.length).toBeGreaterThan(2000);
    expect(contracts.length).toBeGreaterThan(50);
  });
});
