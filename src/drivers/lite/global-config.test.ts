import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

const KEY = toBase64(new Uint8Array(32).fill(7));
const HASH = toBase64(new Uint8Array(32).fill(9));
const SHARD = -(2 ** 63);

type Json = Record<string, unknown>;

const desc = (rest: Json = {}): Json => ({
  ip: 2130706433,
  port: 4643,
  id: { '@type': 'pub.ed25519', key: KEY },
  ...rest,
});
const blockId = (rest: Json = {}): Json => ({
  workchain: -1,
  shard: SHARD,
  seqno: 0,
  root_hash: HASH,
  file_hash: HASH,
  ...rest,
});
const config = (rest: Json = {}, validator: Json = {}): Json => ({
  '@type': 'config.global',
  liteservers: [desc()],
  validator: { zero_state: blockId(), ...validator },
  ...rest,
});
const parse = (json: unknown) => parseGlobalConfig(JSON.stringify(json), 'net.json');

describe('a network config', () => {
  it('as published for the mainnet is read', () => {
    const text = readFileSync(new URL('../../../vectors/lite/mainnet-global.config.json', import.meta.url), 'utf8');
    const { servers, zeroState, initBlock, hardforks } = parseGlobalConfig(text, 'mainnet');
    expect(servers).toHaveLength(18);
    expect(servers.slice(0, 3).map(({ host, port }) => `${host}:${port}`)).toEqual([
      '5.9.10.47:19949',
      '5.9.10.15:48014',
      '135.181.177.59:53312',
    ]);
    expect(servers.every(({ publicKey, slices }) => publicKey.length === 32 && slices === null)).toBe(true);
    expect(toBase64(zeroState.root_hash)).toBe('F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=');
    expect([initBlock.seqno, hardforks.length, hardforks[0]?.seqno]).toEqual([43_792_209, 1, 8_536_841]);
    expect(initBlock.shard).toBe(2n ** 63n);
  });

  it('lets trust start at the last hardfork if that is newer than the init block', () => {
    const seqnos = (init: number | null, ...forks: number[]) => {
      const init_block = init === null ? {} : { init_block: blockId({ seqno: init }) };
      const hardforks = forks.map((seqno) => blockId({ seqno }));
      return parse(config({}, { ...init_block, hardforks })).initBlock.seqno;
    };
    expect(seqnos(100, 7, 50)).toBe(100);
    expect(seqnos(100, 7, 150, 120)).toBe(150);
    expect(seqnos(null, 7)).toBe(7);
    expect(seqnos(null)).toBe(0);
  });

  it('may name servers by name, shards as text, and no init block', () => {
    const { servers, initBlock, zeroState } = parse(
      config(
        { liteservers: [desc({ hostname: 'a.example' }), desc({ hostname: 'b.example:99', port: 0 })] },
        { zero_state: blockId({ shard: '-9223372036854775808' }) },
      ),
    );
    expect(servers.map(({ host, port }) => `${host}:${port}`)).toEqual(['a.example:4643', 'b.example:99']);
    expect(initBlock).toEqual(zeroState);
  });

  it('may name servers that hold a part', () => {
    const shard = (workchain: number, id: number | string, seqno = 0) => ({
      shard_id: { workchain, shard: id },
      seqno,
      utime: 1,
      lt: 1,
    });
    const simple = { '@type': 'liteserver.descV2.sliceSimple', shards: [{ workchain: 0, shard: 6 * 2 ** 60 }] };
    const timed = {
      '@type': 'liteserver.descV2.sliceTimed',
      shards_from: [shard(0, SHARD, 900), shard(-1, SHARD, 1_000)],
      shards_to: [shard(-1, SHARD, 2_000)],
    };
    const parts = [desc({ slices: [simple] }), desc({ slices: [timed] })];
    const { servers } = parse(config({ liteservers: undefined, liteservers_v2: parts }));
    expect(servers.map(({ slices }) => slices)).toEqual([
      [{ range: { from: 0, to: Number.POSITIVE_INFINITY }, shards: [{ workchain: 0, shard: 6n << 60n }] }],
      [{ range: { from: 1_000, to: 2_000 }, shards: [{ workchain: 0, shard: 8n << 60n }] }],
    ]);
  });

  it('that is wrong is refused with the file, the field and what is allowed', () => {
    const slice = (rest: Json) => config({ liteservers_v2: [desc({ slices: [rest] })] });
    const wrong: [unknown, string][] = [
      [[], 'net.json: the file is a list of 0; allowed: an object'],
      [config({ liteservers: [] }), 'liteservers is a list of 0; allowed: a list of at least one server'],
      [config({ liteservers: {} }), 'liteservers is an object; allowed: a list'],
      [
        config({ liteservers: [desc(), desc({ port: 0 })] }),
        'liteservers[1].port is 0; allowed: a whole number from 1',
      ],
      [config({ liteservers: [desc({ port: '1' })] }), 'liteservers[0].port is "1"; allowed'],
      [config({ liteservers: [desc({ ip: 2 ** 31 })] }), 'liteservers[0].ip is 2147483648; allowed'],
      [config({ liteservers: [desc({ ip: undefined })] }), 'liteservers[0].ip is absent; allowed'],
      [config({ liteservers: [desc({ ip: 0 })] }), 'liteservers[0].ip is 0; allowed'],
      [config({ liteservers: [desc({ hostname: 'a b' })] }), 'liteservers[0].hostname is "a b"; allowed'],
      [config({ liteservers: [desc({ hostname: 'a:77' })] }), 'liteservers[0].hostname is "a:77"; allowed'],
      [config({ liteservers: [desc({ id: KEY })] }), 'liteservers[0].id is "'],
      [
        config({ liteservers: [desc({ id: { key: KEY } })] }),
        'liteservers[0].id.@type is absent; allowed: "pub.ed25519"',
      ],
      [
        config({ liteservers: [desc({ id: { '@type': 'pub.ed25519', key: `${KEY}A` } })] }),
        'liteservers[0].id.key is "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=A"; allowed: 32 bytes in base64',
      ],
      [config({ validator: undefined }), 'validator is absent; allowed: an object'],
      [config({}, { zero_state: undefined }), 'validator.zero_state is absent; allowed: an object'],
      [config({}, { zero_state: blockId({ seqno: 1 }) }), 'validator.zero_state.seqno is 1; allowed: 0'],
      [config({}, { zero_state: blockId({ workchain: 0 }) }), 'validator.zero_state.workchain is 0; allowed: -1'],
      [
        config({}, { zero_state: blockId({ shard: 5 }) }),
        'validator.zero_state.shard is 5; allowed: -9223372036854775808',
      ],
      [
        config({}, { zero_state: blockId({ shard: 1.5 }) }),
        'validator.zero_state.shard is 1.5; allowed: a whole number',
      ],
      [
        config({}, { zero_state: blockId({ shard: '9'.repeat(19) }) }),
        'validator.zero_state.shard is "9999999999999999999"',
      ],
      [
        config({}, { init_block: blockId({ root_hash: 'x' }) }),
        'validator.init_block.root_hash is "x"; allowed: 32 bytes',
      ],
      [config({}, { hardforks: [blockId(), {}] }), 'validator.hardforks[1].workchain is absent'],
      [slice({}), 'liteservers_v2[0].slices[0].@type is absent'],
      [slice({ '@type': 'liteserver.descV2.sliceTimed' }), 'liteservers_v2[0].slices[0].shards_from is absent'],
      [
        slice({ '@type': 'liteserver.descV2.sliceTimed', shards_to: [{ shard_id: { workchain: 0, shard: SHARD } }] }),
        'liteservers_v2[0].slices[0].shards_to is a list of 1; allowed: a list that contains the masterchain exactly once',
      ],
      [
        slice({ '@type': 'liteserver.descV2.sliceSimple', shards: [{ workchain: 0, shard: 0 }] }),
        'liteservers_v2[0].slices[0].shards[0].shard is 0',
      ],
    ];
    for (const [json, expected] of wrong) {
      let error: unknown = null;
      try {
        parse(json);
      } catch (thrown) {
        error = thrown;
      }
      expect(isTernError(error, 'lite/bad-config'), expected).toBe(true);
      expect((error as Error).message).toContain(expected);
      expect((error as Error).message).toMatch(/^net\.json: /);
    }
    expect(() => parseGlobalConfig('{"liteservers": [}', 'net.json')).toThrow(
      /net\.json: the file is .*; allowed: JSON/,
    );
  });
});
