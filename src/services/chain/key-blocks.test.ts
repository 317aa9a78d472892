import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import type { Logger } from '#kernel/logger.js';
import { KeyBlockFile } from '#services/chain/key-blocks.js';

function block(seqno: number): BlockId {
  const root_hash = new Uint8Array(32).fill(seqno);
  return { ...MASTERCHAIN_SHARD, seqno, root_hash, file_hash: new Uint8Array(32).fill(seqno + 1) };
}

const zero_state = block(0);
const blocks = [3, 70, 500].map(block);

describe('the file of key blocks', () => {
  let folder: string;
  let path: string;
  let warnings: string[];
  const logger: Logger = { info() {}, warn: (message) => void warnings.push(message) };
  const open = (zerostate = zero_state) => new KeyBlockFile({ path, zero_state: zerostate }, { logger });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tern-key-blocks-'));
    path = join(folder, 'data', 'key-blocks');
    warnings = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function filled(): Promise<string> {
    const file = open();
    expect(await file.load()).toEqual([]);
    await file.append(blocks.slice(0, 2));
    await file.append(blocks.slice(2));
    return readFileSync(path, 'latin1');
  }

  it('gives back what was appended, in the next run too', async () => {
    await filled();
    expect(await open().load()).toEqual(blocks);
    await open().append([block(600)]);
    expect(await open().load()).toEqual([...blocks, block(600)]);
    expect(warnings).toEqual([]);
  });

  it('forgets what is replaced', async () => {
    await filled();
    const other = { ...block(70), root_hash: new Uint8Array(32) };
    await open().replace([blocks[0]!, other]);
    expect(await open().load()).toEqual([blocks[0], other]);
    await open().append([block(600)]);
    expect(await open().load()).toEqual([blocks[0], other, block(600)]);
    expect(warnings).toEqual([]);
  });

  it('drops a line that was cut off, at every byte of it, and goes on from there', async () => {
    const text = await filled();
    const lastLine = text.lastIndexOf('\n', text.length - 2) + 1;
    for (let end = lastLine + 1; end < text.length; end++) {
      writeFileSync(path, text.slice(0, end));
      expect(await open().load(), `${end} bytes`).toEqual(blocks.slice(0, 2));
      await open().append(blocks.slice(2));
      expect(await open().load(), `${end} bytes`).toEqual(blocks);
    }
    expect(warnings).toHaveLength(text.length - lastLine - 1);
  });

  it('keeps the sound lines in front of any damaged byte', async () => {
    const text = await filled();
    for (let at = 0; at < text.length; at += 3) {
      const bytes = Buffer.from(text, 'latin1');
      bytes[at]! ^= 1;
      writeFileSync(path, bytes);
      const linesBefore = text.slice(0, at).split('\n').length - 2;
      expect(await open().load(), `byte ${at}`).toEqual(blocks.slice(0, Math.max(0, linesBefore)));
      expect(readFileSync(path, 'latin1').split('\n').length, `byte ${at}`).toBe(2 + Math.max(0, linesBefore));
    }
  });

  it('does not take lines out of their order, nor what somebody appended', async () => {
    const text = await filled();
    const [header, first, second] = text.split('\n');
    writeFileSync(path, `${[header, second, first].join('\n')}\n`);
    expect(await open().load()).toEqual([blocks[1]]);
    appendFileSync(path, 'hello\n');
    expect(await open().load()).toEqual([blocks[1]]);
    expect(warnings).toHaveLength(2);
  });

  it('refuses the file of another network', async () => {
    const text = await filled();
    await expect(open(block(9)).load()).rejects.toMatchObject({ code: 'chain/key-block-network', class: 'caller' });
    expect(readFileSync(path, 'latin1')).toBe(text);
  });

  it('says what is wrong with a place where nothing can be written', async () => {
    path = join(folder, 'file', 'key-blocks');
    writeFileSync(join(folder, 'file'), '');
    await expect(open().load()).rejects.toMatchObject({ code: 'chain/key-block-file', class: 'caller' });
  });

  it('has every block whose writing was finished when the process is killed', async () => {
    await open().load();
    for (let bundle = 0; bundle < 3; bundle++) {
      const written = await killedWriter(path, 1000 * (bundle + 1));
      expect(written.length).toBeGreaterThanOrEqual(20);
      const loaded = await open().load();
      const seqnos = loaded.map(({ seqno }) => seqno);
      expect(seqnos).toEqual(expect.arrayContaining(written));
      expect(seqnos).toEqual([...seqnos].sort((a, b) => a - b));
    }
  });
});

/** Appends blocks in a process of its own, kills it in the middle, and gives what it said to have finished. */
function killedWriter(path: string, first: number): Promise<number[]> {
  const script = `
    const { KeyBlockFile } = await import('#services/chain/key-blocks.js');
    const id = (seqno, fill) => ({ workchain: -1, shard: 1n << 63n, seqno,
      root_hash: new Uint8Array(32).fill(fill), file_hash: new Uint8Array(32).fill(fill) });
    const file = new KeyBlockFile({ path: process.argv[1], zero_state: id(0, 0) }, { logger: { info() {}, warn() {} } });
    for (let seqno = ${first}; ; seqno++) {
      await file.append([id(seqno, seqno & 255)]);
      process.stdout.write(seqno + '\\n');
    }`;
  const node = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script, path];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.split('\n').length > 20) child.kill('SIGKILL');
    });
    child.on('close', () => resolve(said.split('\n').slice(0, -1).map(Number)));
  });
}
