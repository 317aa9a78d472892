// A process that adds keys to a file of keys and prints the id of each: key-writer.ts FILE COUNT
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { KeyFile } from '#services/access/key-file.js';
import { KeyAdministration } from '#services/access/keys.js';
import { Plans } from '#services/access/plans.js';

const [path = '', count = '0'] = process.argv.slice(2);
const modules = { clock: systemClock, unixTimeMs: Date.now, randomBytes, logger: silentLogger };
const keys = new KeyAdministration({ ...modules, store: new KeyFile({ path }, modules) });
for (let i = 0; i < Number(count); i++) {
  const { record } = await keys.create({ label: `${i}`, owner: null, plan: 'free', networks: null }, new Plans());
  process.stdout.write(`${record.id}\n`);
}
