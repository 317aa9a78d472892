import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connectAdnl } from '#drivers/adnl/client.js';
import { keyPairFromSeed } from '#drivers/adnl/keys.js';
import { LiteServerGetMasterchainInfo } from '#formats/tl/lite-api.js';
import { decodeLiteAnswer, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { vectorPath } from '#test/support/vector-files.js';

const bin = resolve('bin/tern.js');
const chain = vectorPath('mainnet-genesis');
const away = mkdtempSync(join(tmpdir(), 'tern-replay-cli-'));
afterAll(() => rmSync(away, { recursive: true }));

let running: ChildProcess | null = null;
afterEach(() => void running?.kill('SIGKILL'));

interface Config {
  readonly liteservers: readonly {
    readonly ip: number;
    readonly port: number;
    readonly id: { readonly key: string };
  }[];
}

/** Starts the command and waits for the configuration that it prints. */
async function start(...flags: string[]): Promise<{ readonly child: ChildProcess; readonly printed: string }> {
  const child = spawn(process.execPath, [bin, 'replay', chain, '--to', '9', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  let printed = '';
  for await (const chunk of child.stdout!) {
    printed += chunk;
    if (printed.endsWith('}\n')) break;
  }
  return { child, printed };
}

/** Asks the server of a configuration for its head, after a wait for a block. */
async function headOf(config: Config, seqno: number): Promise<number | string> {
  const [server] = config.liteservers;
  const modules = { clock: systemClock, randomBytes: (size: number) => randomBytes(size) };
  const serverPublicKey = fromBase64(server!.id.key)!;
  const client = await connectAdnl({ host: '127.0.0.1', port: server!.port, serverPublicKey }, modules);
  try {
    const query = encodeLiteQuery(LiteServerGetMasterchainInfo, {}, { seqno, timeout_ms: 9_000 });
    const answer = decodeLiteAnswer(LiteServerGetMasterchainInfo, await client.query(query));
    return answer.error === null ? answer.value.last.seqno : answer.error.message;
  } finally {
    client.close();
  }
}

describe('tern replay', () => {
  it('prints and writes a configuration with which clients reach the chain, until it is interrupted', async () => {
    const seed = randomBytes(32);
    const key = join(away, 'key');
    const file = join(away, 'global.config.json');
    writeFileSync(key, toBase64(seed));
    const { child, printed } = await start('--listen', 'localhost:0', '--key', key, '--config-out', file);
    expect(readFileSync(file, 'utf8')).toBe(printed);
    const config = JSON.parse(printed) as Config;
    expect(config.liteservers[0]).toMatchObject({
      ip: 2130706433,
      id: { key: toBase64(keyPairFromSeed(seed).publicKey) },
    });
    expect(await headOf(config, 0)).toBe(9);
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    expect(await exit).toEqual([0, null]);
  });

  it('lets the head move at a pace', async () => {
    const { child, printed } = await start('--pace', '4');
    const config = JSON.parse(printed) as Config;
    const heads = [await headOf(config, 0), await headOf(config, 9)];
    expect(heads[0]).toBeLessThan(9);
    expect(heads[1]).toBe(9);
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  });

  it.each([
    ['a folder that is not there', ['/no/such/folder'], /^tern: replay\/unreadable-folder: \/no\/such\/folder cannot/],
    [
      'blocks that are missing',
      [chain],
      /^tern: replay\/missing-block: \S+ does not have block \(0,8000000000000000,11\)/,
    ],
    ['a wrong address', [chain, '--listen', '127.0.0.300:1'], /^tern: cli\/usage: --listen is "127\.0\.0\.300:1"/],
    ['a wrong seqno', [chain, '--to', 'x'], /^tern: replay\/bad-option: --to is "x"/],
    ['a wrong pace', [chain, '--pace', 'x'], /^tern: replay\/bad-option: --pace is "x"/],
    ['a key that is none', [chain, '--to', '9', '--key', bin], /^tern: cli\/file: \S+tern\.js is not a private key/],
    [
      'a file that cannot be written',
      [chain, '--to', '9', '--config-out', '/no/such/x'],
      /^tern: cli\/file: \/no\/such\/x cannot be written/,
    ],
  ])('says in one line what is wrong, and starts nothing: %s', (_, args, line) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'replay', ...args], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
