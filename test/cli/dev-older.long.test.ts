import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ServedTern } from '#test/support/served-tern.js';
import { vectorPath } from '#test/support/vector-files.js';

/** A block of the stored chain; see SOURCE.md. */
const KNOWN = { seqno: 5, root_hash: '7u3RiVbXV0T7yLnQeCAEuOiR3bNpBo3HbicXJ2VViLs=' };

const away = mkdtempSync(join(tmpdir(), 'tern-older-'));
afterAll(() => rmSync(away, { recursive: true, force: true }));

it('a local network of an older version goes on', async () => {
  cpSync(vectorPath('older-local-network'), join(away, 'localnet'), { recursive: true });
  const tern = await ServedTern.start(['dev', '--index', 'off', '--data', away, '--port', '0', '--block-time', '200']);
  try {
    const get = async (path: string) => (await fetch(tern.url + path)).json() as Promise<any>;
    const { result } = await get(`/api/v2/lookupBlock?workchain=-1&shard=-9223372036854775808&seqno=${KNOWN.seqno}`);
    expect(result.root_hash).toBe(KNOWN.root_hash);
    const { head } = await get('/localnet/status');
    await expect.poll(async () => (await get('/localnet/status')).head.seqno).toBeGreaterThan(head.seqno);
  } finally {
    await tern.close();
  }
});
