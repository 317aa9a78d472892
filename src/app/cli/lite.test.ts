import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '#app/cli/command-line.js';
import { toBase64 } from '#kernel/bytes.js';
import { FakeLiteserver } from '#test/support/fake-liteserver.js';

const folder = mkdtempSync(join(tmpdir(), 'tern-lite-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await runCommandLine(args, { out: (text) => (out += text), err: (text) => (err += text) });
  return { code, out, err };
}

/** A network config with these servers in a file. */
function networkFile(name: string, servers: { port: number; publicKey: Uint8Array }[]): string {
  const hash = toBase64(new Uint8Array(32));
  const zero_state = { workchain: -1, shard: -(2 ** 63), seqno: 0, root_hash: hash, file_hash: hash };
  const liteservers = servers.map(({ port, publicKey }) => ({
    ip: 2130706433,
    port,
    id: { '@type': 'pub.ed25519', key: toBase64(publicKey) },
  }));
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ liteservers, validator: { zero_state } }));
  return file;
}

describe('tern lite status', () => {
  it('shows the servers of a network', async () => {
    const servers = await Promise.all([new FakeLiteserver('a').start(), new FakeLiteserver('b').start()]);
    try {
      const file = networkFile(
        'net.json',
        servers.map(({ address }) => address),
      );
      const { code, out, err } = await run('lite', 'status', '--network', file);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('2 of 2 servers healthy, 2 archive servers, head 100');
      for (const each of servers) expect(out).toContain(`${each.peer} `);
      const asJson = await run('lite', 'status', '--network', file, '--json');
      expect(asJson.err).toBe('');
      const json = JSON.parse(asJson.out);
      expect([json.head_seqno, json.servers.length]).toEqual([100, 2]);
    } finally {
      await Promise.all(servers.map((each) => each.stop()));
    }
  });

  it('fails with one line when no server is there, or the input is wrong', async () => {
    const gone = await new FakeLiteserver('gone').start();
    const file = networkFile('gone.json', [gone.address]);
    await gone.stop();
    const nobody = await run('lite', 'status', '-n', file, '-w', '5');
    expect(nobody.code).toBe(1);
    expect(nobody.out).toContain('ECONNREFUSED');
    expect(nobody.err).toMatch(/^tern: cli\/no-server: the server of .*gone\.json is not healthy\. .*\n$/);
    writeFileSync(join(folder, 'bad.json'), '{"liteservers": 5}');
    const wrong: [string[], RegExp][] = [
      [
        ['-n', join(folder, 'bad.json')],
        /^tern: lite\/bad-config: .*bad\.json: validator is absent; allowed: an object\. /,
      ],
      [['-n', join(folder, 'none.json')], /^tern: config\/network-list: .*none\.json.*the file does not exist/],
      [['-n', file, '-w', 'soon'], /^tern: cli\/usage: --wait is "soon"/],
      [[], /^tern: cli\/usage: .*--network/],
    ];
    for (const [args, expected] of wrong) {
      const { code, out, err } = await run('lite', 'status', ...args);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(expected);
      expect(err.trimEnd()).not.toContain('\n');
    }
  });
});
