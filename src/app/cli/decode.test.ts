import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { runCommandLine } from '#app/cli/command-line.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerCurrentTime, LiteServerGetTime } from '#formats/tl/lite-api.js';
import { encodeLiteQuery } from '#formats/tl/lite-query.js';
import { StateInit } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { hashmapRef, intKey } from '#formats/tlb/codec/dictionary.js';
import { cellRef } from '#formats/tlb/codec/primitives.js';
import { configDictionary } from '#formats/tlb/config/config-params.js';
import { ConfigVotingSetup } from '#formats/tlb/config/validators.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { walletContract } from '#localnet/wallets/wallet-contract.js';
import { vectorPath } from '#test/support/vector-files.js';

const example = (name: string) => vectorPath(`examples/${name}.boc`);
const block = parseBocRoot(readFileSync(example('basechain-block')));

async function tern(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let out = '';
  let err = '';
  const code = await runCommandLine(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

async function json(...args: string[]): Promise<any> {
  const { code, out, err } = await tern('decode', ...args);
  expect(err).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

describe('tern decode', () => {
  it.each([
    ['masterchain-block', 'Block', 'index, crc32c'],
    ['basechain-block', 'Block', 'index, crc32c'],
    ['zerostate', 'ShardState', 'index, crc32c'],
    ['config-proof', 'MERKLE_PROOF', 'generic'],
    ['config', '(Hashmap 32 ^Cell)', 'generic'],
  ])('recognises %s as %s', async (name, type, format) => {
    const decoded = await json(example(name));
    expect(decoded.type).toBe(type);
    expect(decoded.hash).toBe(toHex(parseBocRoot(readFileSync(example(name))).hash()));
    expect(decoded.boc.format).toContain(format);
  });

  it('shows fields by their TL-B names, hashes, and the parts of the block by key', async () => {
    const { value } = await json(example('basechain-block'));
    expect(value.info.seq_no).toBe(54302208);
    expect(value.info['@hash']).toBe(toHex(block.ref(0).hash()));
    expect(value.value_flow.kind).toMatch(/^value_flow/);
    const accounts = [...decodeCell(Block, block).extra.value.account_blocks.value].map(([key]) => toHex(key));
    expect(Object.keys(value.extra.account_blocks).filter((key) => /^[0-9a-f]{64}$/.test(key))).toEqual(accounts);
  });

  it('writes a part that occurs again once, or with --full each time', async () => {
    const short = await tern('decode', example('basechain-block'));
    const full = await tern('decode', example('basechain-block'), '--full');
    expect(short.out).toContain('"@shown": "extra.in_msg_descr[');
    expect(full.out).not.toContain('@shown');
    expect(full.out.length).toBeGreaterThan(short.out.length);
  });

  it('shows what a proof shows, and where it is pruned', async () => {
    const { value } = await json(example('config-proof'));
    expect(value.virtual_root.type).toBe('ShardState');
    const { config } = value.virtual_root.value.custom.config;
    expect(config['8'].global_version.kind ?? config['8'].global_version.version).toBeDefined();
    expect(value.virtual_root.value.accounts['@pruned']).toMatch(/^[0-9a-f]{64}$/);
    expect(config['79']['@problem']).toMatch(/^tlb\/constructor-tag/);
  });

  it('names places inside of a parameter of the configuration by their whole path', async () => {
    const entries = [...configDictionary(parseBocRoot(readFileSync(example('config'))))];
    const voting = decodeCell(ConfigVotingSetup, entries.find(([index]) => index === 11)![1]);
    const same = encodeCell(ConfigVotingSetup, { ...voting, critical_params: voting.normal_params });
    const config = hashmapRef(intKey(32), cellRef).of(
      entries.map(([index, cell]) => [index, index === 11 ? same : cell]),
    );
    const { value } = await json(toHex(serializeBoc(config.root!)));
    expect(value['11'].voting_setup.critical_params).toEqual({
      '@hash': value['11'].voting_setup.normal_params['@hash'],
      '@shown': '[11].voting_setup.normal_params',
    });
  });

  it('recognises a transaction, a message, an account, and gives other cells as they are', async () => {
    const transaction = [...[...decodeCell(Block, block).extra.value.account_blocks.value][0]![1].transactions][0]![1];
    expect((await json(toHex(serializeBoc(transaction.cell)))).type).toBe('Transaction');
    const message = transaction.value.in_msg!;
    expect((await json(toBase64(serializeBoc(message.cell)))).type).toBe('Message');
    const plain = new Builder().storeUint(0xabc, 12).endCell();
    expect(await json(toHex(serializeBoc(plain)))).toMatchObject({
      type: 'Cell',
      value: { '@boc': toBase64(serializeBoc(plain)) },
    });
  });

  it('leaves the indentation out where the text would be too long with it', async () => {
    const stringify = JSON.stringify;
    const spy = vi.spyOn(JSON, 'stringify').mockImplementation((value, replacer, space) => {
      if (space !== undefined) throw new RangeError('Invalid string length');
      return stringify(value, replacer as null);
    });
    const { code, out } = await tern('decode', example('zerostate')).finally(() => spy.mockRestore());
    expect([code, out.split('\n').length, JSON.parse(out).type]).toEqual([0, 2, 'ShardState']);
  });

  it('reads several roots', async () => {
    const roots = [parseBocRoot(readFileSync(example('config'))), block];
    const decoded = await json(toBase64(serializeBoc(roots)));
    expect(decoded.roots.map((root: { type: string }) => root.type)).toEqual(['(Hashmap 32 ^Cell)', 'Block']);
  });

  it('reads files that hold hex or base64 text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tern-'));
    const bytes = readFileSync(example('zerostate'));
    for (const encoding of ['hex', 'base64'] as const) {
      const file = join(folder, encoding);
      writeFileSync(file, `${bytes.toString(encoding)}\n`);
      expect((await json(file)).type).toBe('ShardState');
    }
  });

  it('names message bodies by their opcodes and code by its hash', async () => {
    const transfer = new Builder()
      .storeUint(0x0f8a7ea5, 32)
      .storeUint(7, 64)
      .storeUint(0x2_3039, 20)
      .storeUint(0, 2)
      .storeUint(0, 2)
      .storeUint(0, 1)
      .storeUint(0, 4)
      .storeUint(0, 1)
      .endCell();
    const body = await json(toHex(serializeBoc(transfer)));
    expect(body).toMatchObject({ type: 'message body', opcode: '0x0f8a7ea5', name: 'jetton_transfer' });
    expect(body.value).toMatchObject({ '@type': 'jetton_transfer', query_id: '7' });
    const tree = await tern('decode', toHex(serializeBoc(transfer)), '--tree');
    expect(tree.out).toContain('message body: jetton_transfer (0x0f8a7ea5)\n');
    const comment = new Builder().storeUint(0, 32).storeBytes(Buffer.from('hello')).endCell();
    expect(await json(toHex(serializeBoc(comment)))).toMatchObject({ type: 'message body', opcode: '0x00000000' });

    const { init: stateInit } = walletContract({ version: 'v4r2', publicKey: new Uint8Array(32) });
    expect(await json(toHex(serializeBoc(stateInit.code!)))).toMatchObject({
      type: 'contract code',
      contract: 'wallet v4 r2',
    });
    const init = await json(toHex(serializeBoc(encodeCell(StateInit, stateInit))));
    expect(init.value.code).toMatchObject({ '@contract': 'wallet v4 r2' });
  });

  it('names packs of nodes, and queries and answers of liteservers', async () => {
    const pack = join(mkdtempSync(join(tmpdir(), 'tern-')), 'blocks.pack');
    writeFileSync(pack, gunzipSync(readFileSync(vectorPath('recorded-chain/blocks-1-10.pack.gz'))));
    const named = await json(pack);
    expect(named.type).toBe('archive pack of a node');
    expect(named.files).toBeGreaterThan(10);
    expect(named.first[0]).toMatch(/^(zerostate|block|proof)_/);
    const answer = encodeBoxed(LiteServerCurrentTime, { now: 1_700_000_000 });
    expect(await json(toHex(answer))).toEqual({ type: 'liteServer.currentTime', value: { now: 1_700_000_000 } });
    expect((await json(toHex(encodeLiteQuery(LiteServerGetTime, {})))).type).toBe('liteServer.query');
  });

  it('prints a tree within 80 columns, whatever its depth', async () => {
    let deep = new Builder().storeBytes(new Uint8Array(100)).endCell();
    for (let i = 0; i < 60; i++) deep = new Builder().storeUint(i, 800).storeRef(deep).endCell();
    for (const input of [example('masterchain-block'), toHex(serializeBoc(deep))]) {
      const { out } = await tern('decode', input, '--tree');
      const longest = Math.max(...out.split('\n').map((line) => line.length));
      expect(longest).toBeLessThanOrEqual(80);
      expect(out).not.toContain('\u001b');
    }
  });

  it('prints a tree in which each cell stands once', async () => {
    const { code, out } = await tern('decode', example('masterchain-block'), '--tree', '--full');
    expect(code).toBe(0);
    const [title, root, ...rest] = out.trimEnd().split('\n');
    expect(title).toBe('Block');
    expect(root).toMatch(/^x\{11EF55AA[0-9A-F]+\} 64 bits [0-9a-f]{64}$/);
    const hashes = rest.map((line) => / ([0-9a-f]{64})$/.exec(line)?.[1]).filter((hash) => hash !== undefined);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('decodes as the type that is asked for', async () => {
    expect((await json(toHex(serializeBoc(block.ref(0))), '--type', 'BlockInfo')).value.seq_no).toBe(54302208);
    expect((await tern('decode', example('zerostate'), '--type', 'Nothing')).err).toMatch(/^tern: cli\/no-such-type: /);
    expect((await tern('decode', example('zerostate'), '--type', 'Transaction')).err).toMatch(
      /^tern: tlb\/constructor-tag: /,
    );
  });
});

describe('tern decode of an address', () => {
  const hash = '3'.repeat(64);

  it.each([
    [`-1:${hash}`, `-1:${hash}`],
    ['Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF', `-1:${hash}`],
    [`0:${hash}`, `0:${hash}`],
  ])('%s: says how else it is written', async (text, raw) => {
    const decoded = await json(text);
    expect(decoded).toMatchObject({ type: 'address', raw });
    expect((await json(decoded.testnet.non_bounceable)).raw).toBe(raw);
  });

  it('has but one form in a workchain that is too far off', async () => {
    expect(await json(`-1000:${hash}`)).toEqual({ type: 'address', raw: `-1000:${hash}` });
  });

  it('says what is wrong with it', async () => {
    const { code, err } = await tern('decode', 'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vG');
    expect([code, err]).toEqual([1, expect.stringMatching(/^tern: address\/checksum: .+\n$/)]);
  });
});

describe('tern decode says in one line what is wrong, and exits with 1', () => {
  const bytes = readFileSync(example('masterchain-block'));
  const flipped = new Uint8Array(bytes);
  flipped[5000]! ^= 4;
  const info = new Builder()
    .storeUint(0x11ef55aa, 32)
    .storeInt(-239, 32)
    .storeRef(new Builder().storeUint(0x9bc7a987, 32).storeUint(0, 40).endCell());
  for (const i of [1, 2, 3]) info.storeRef(block.ref(i));

  it.each([
    ['no file', 'no-such-file', /^tern: cli\/input: "no-such-file" is neither a file nor a BoC .+\n$/],
    ['a folder', vectorPath('examples'), /^tern: cli\/input: .+ is a folder\. .+\n$/],
    ['other bytes', '00112233', /^tern: cli\/input: "00112233" is neither a file nor a BoC .+\n$/],
    ['another file', vectorPath('examples/README.md'), /^tern: cells\/boc-magic: .+\n$/],
    ['a hash', '3'.repeat(64), /^tern: cli\/input: .+ the size of a hash .+\n$/],
    ['a cut bag', toHex(bytes.subarray(0, 3000)), /^tern: cells\/boc-truncated: .+ byte \d+.+\n$/],
    ['a flipped bit', toHex(flipped), /^tern: cells\/boc-crc: .+ byte \d+.+\n$/],
    [
      'a damaged field',
      toHex(serializeBoc(info.endCell())),
      /^tern: cells\/slice-underflow: .+ bit \d+ .+\(at info\.flags\).+\n$/,
    ],
  ])('%s', async (_, input, line) => {
    const { code, out, err } = await tern('decode', input);
    expect(err).toMatch(line);
    expect(out).toBe('');
    expect(code).toBe(1);
  });

  it('a second input', async () => {
    const { code, out, err } = await tern('decode', example('zerostate'), 'another');
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^tern: cli\/usage: .+"another".+\n$/)]);
  });
});
