import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeEndpoints } from '#api/v2/network.js';
import { utilityEndpoints } from '#api/v2/utilities.js';
import { Address } from '#formats/address/address.js';
import { toBase64, toBase64Url, toHex } from '#kernel/bytes.js';
import { callV2 } from '#test/support/v2-method.js';

const call = (name: string, body: Record<string, unknown>) => callV2(utilityEndpoints, name, body);
const anyHash = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('addresses', () => {
  const raw = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
  const friendly = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';

  it('are shown in all forms', async () => {
    const variant = (b64url: string) => ({
      '@type': 'ext.utils.detectedAddressVariant',
      b64: b64url.replace(/-/g, '+').replace(/_/g, '/'),
      b64url,
    });
    expect((await call('detectAddress', { address: raw })).result).toEqual({
      '@type': 'ext.utils.detectedAddress',
      raw_form: raw,
      bounceable: variant(friendly),
      non_bounceable: variant('UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI'),
      given_type: 'raw_form',
      test_only: false,
    });
  });

  it('keep their flags', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -128, max: 127 }),
        anyHash,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        async (workchain, hash, bounceable, testnet, urlSafe) => {
          const address = Address.ofParts(workchain, hash);
          const text = address.toFriendly({ bounceable, testnet, urlSafe });
          const detected = (await call('detectAddress', { address: text })).result;
          expect(detected).toMatchObject({
            raw_form: address.toRaw(),
            given_type: bounceable ? 'friendly_bounceable' : 'friendly_non_bounceable',
            test_only: testnet,
            bounceable: { b64url: address.toFriendly({ testnet }) },
            non_bounceable: { b64: address.toFriendly({ testnet, bounceable: false, urlSafe: false }) },
          });
          const packed = (await call('packAddress', { address: text })).result;
          expect(packed).toBe(address.toFriendly({ bounceable, testnet }));
          expect((await call('packAddress', { address: address.toRaw() })).result).toBe(address.toFriendly());
          const unpacked = (await call('unpackAddress', { address: text })).result;
          expect(unpacked).toBe(`${workchain}:${toHex(hash).toUpperCase()}`);
        },
      ),
      { numRuns: 50 },
    );
  });

  const refused = [
    '',
    ' ',
    'foo.ton',
    raw.slice(2),
    `${raw}0`,
    raw.slice(0, -1),
    `+${raw}`,
    `0${raw}`,
    ` ${raw}`,
    `${friendly}=`,
    friendly.slice(1),
    `${friendly.slice(0, -1)}A`,
    `2147483648${raw.slice(1)}`,
    'привет',
    '\u0000',
    "'; drop table",
  ];
  it.each(refused)('%j is none', async (address) => {
    for (const name of ['detectAddress', 'packAddress', 'unpackAddress']) {
      const answer = await call(name, { address });
      expect(answer.status).toBe(422);
      expect(answer.error).toMatch(/address/);
    }
  });

  it('of workchains beyond int8 have a raw form only', async () => {
    const address = `128:${'ab'.repeat(32)}`;
    expect((await call('unpackAddress', { address })).result).toBe(`128:${'AB'.repeat(32)}`);
    for (const name of ['detectAddress', 'packAddress']) expect((await call(name, { address })).status).toBe(422);
  });
});

describe('hashes', () => {
  it('are shown in all forms', async () => {
    await fc.assert(
      fc.asyncProperty(anyHash, async (hash) => {
        const result = {
          '@type': 'ext.utils.detectedHash',
          b64: toBase64(hash),
          b64url: toBase64Url(hash),
          hex: toHex(hash),
        };
        const forms = [result.b64, result.b64url, `${result.b64url}=`, result.hex, result.hex.toUpperCase()];
        for (const form of forms) expect((await call('detectHash', { hash: form })).result).toEqual(result);
      }),
      { numRuns: 50 },
    );
  });

  const refused = [
    '',
    'x',
    'z'.repeat(64),
    'A'.repeat(44),
    'A'.repeat(42),
    `0x${'ab'.repeat(32)}`,
    `${'+'.repeat(43)}`,
  ];
  it.each(refused)('%j is none', async (hash) => {
    const answer = await call('detectHash', { hash });
    expect([answer.status, answer.error]).toEqual([422, expect.stringMatching(/hash/)]);
  });
});

describe('getWorkerState', () => {
  it('reports each server', async () => {
    const servers = () => [
      { name: '127.0.0.1:4643', alive: true, archival: false, seqno: 1170 },
      { name: 'other', alive: false, archival: true, seqno: 0 },
    ];
    expect((await callV2(nodeEndpoints, 'getWorkerState', {}, { servers })).result).toEqual({
      0: {
        ls_index: 0,
        id: '127.0.0.1:4643',
        is_working: true,
        is_archival: false,
        is_enabled: true,
        last_block: 1170,
      },
      1: { ls_index: 1, id: 'other', is_working: false, is_archival: true, is_enabled: true, last_block: 0 },
    });
  });
});
