import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedTern } from '#test/support/served-tern.js';
import { differencesOf } from '../sim/followed.js';
import { FollowedMessages } from './followed-messages.js';

const folder = mkdtempSync(join(tmpdir(), 'tern-followed-'));
let tern: ServedTern;

beforeAll(async () => {
  tern = await ServedTern.start(['dev', '--port', '0', '--data', join(folder, 'data'), '--block-time', '200']);
});
afterAll(async () => {
  await tern.close();
  rmSync(folder, { recursive: true });
});

describe('messages to a local network', () => {
  // A thousand: npm run -s sim -- followed
  it('come as they were emulated, in order, none missing and none double', async () => {
    const followed = await new FollowedMessages(tern.url).run(6);
    expect(followed.length).toBe(36);
    expect(followed.flatMap(differencesOf)).toEqual([]);
  });
});
