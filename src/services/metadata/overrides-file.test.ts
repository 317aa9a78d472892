import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOverrides } from '#services/metadata/overrides-file.js';

const RAW = `0:${'65AAC9B5E380EAE928DB3C8E238D9BC0D61A9320FDC2BC7A2F6C87D6FEDF9208'}`;
const FRIENDLY = 'EQBlqsm144Dq6SjbPI4jjZvA1hqTIP3CvHovbIfW_t-SCALE';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tern-overrides-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(content: unknown) {
  const file = join(folder, 'overrides.json');
  await writeFile(
    file,
    typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
  );
  return loadOverrides(file);
}

async function problemOf(content: unknown): Promise<string> {
  return load(content).then(
    () => 'it is read',
    (error) => `${error.code}: ${error.data.problem}`,
  );
}

describe('a file of overrides', () => {
  it('gives by kind and address what replaces them', async () => {
    const content = { symbol: 'DUST', decimals: 9, social: ['https://t.me/dedust'] };
    const found = await load({
      jetton_masters: { [FRIENDLY]: { content, is_nsfw: false } },
      nft_items: { [RAW]: { is_scam: true } },
      nft_collections: {},
    });
    expect(
      found.map(({ kind, address, override }) => ({ kind, address: address.toRaw().toUpperCase(), override })),
    ).toEqual([
      { kind: 'jetton_masters', address: RAW, override: { content: { ...content, decimals: '9' }, is_nsfw: false } },
      { kind: 'nft_items', address: RAW, override: { is_scam: true } },
    ]);
    expect(await load({})).toEqual([]);
  });

  it.each([
    ['{', 'it is not JSON in UTF-8: '],
    [Uint8Array.of(0x22, 0xff, 0x22), 'it is not JSON in UTF-8: '],
    [[], 'it is not a JSON object'],
    [{ jettons: {} }, '"jettons" is not a kind; kinds are jetton_masters, nft_collections, nft_items'],
    [{ nft_items: [] }, 'nft_items is not a JSON object'],
    [{ nft_items: { abc: {} } }, 'nft_items["abc"] is not an address: '],
    [{ nft_items: { [RAW]: null } }, `nft_items["${RAW}"] is not a JSON object`],
    [{ nft_items: { [RAW]: {} } }, `nft_items["${RAW}"] is empty`],
    [
      { nft_items: { [RAW]: { name: 'x' } } },
      `nft_items["${RAW}"] has a field "name"; fields are content, is_nsfw, is_scam`,
    ],
    [{ nft_items: { [RAW]: { is_scam: 'yes' } } }, `nft_items["${RAW}"].is_scam is neither true nor false`],
    [{ nft_items: { [RAW]: { content: 'x' } } }, `nft_items["${RAW}"].content is not a JSON object`],
    [{ nft_items: { [RAW]: { content: { name: 7 } } } }, `nft_items["${RAW}"].content.name is not a text`],
    [
      { nft_items: { [RAW]: { content: { name: 'x'.repeat(999) } } } },
      `nft_items["${RAW}"].content.name is empty or too long`,
    ],
    [
      { nft_items: { [RAW]: { content: { decimals: 'x' } } } },
      `nft_items["${RAW}"].content.decimals is not a number from 0 to 255`,
    ],
  ])('is refused with the entry at fault: %j', async (content, problem) => {
    expect(await problemOf(content)).toContain(`metadata/overrides: ${problem}`);
  });

  it('has each token once', async () => {
    const twice = { nft_items: { [RAW]: { is_scam: true }, [RAW.toLowerCase()]: { is_scam: false } } };
    expect(await problemOf(twice)).toContain('is listed twice, in two forms of its address');
  });

  it('has to be there', async () => {
    await expect(loadOverrides(join(folder, 'none.json'))).rejects.toThrow('there is no such file');
  });
});
