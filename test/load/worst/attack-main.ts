// The process of the attackers: started by attackers.ts, which tells it over IPC what to do.
import { setMaxListeners } from 'node:events';
import process from 'node:process';
import { type AbuseTally, Attack } from './abuses/abuse.js';
import { allAbuses } from './abuses/all-abuses.js';
import type { AttackOrder } from './attackers.js';

process.on('message', (order: AttackOrder) => {
  void attack(order).then((tallies) => process.send!(tallies));
});
process.on('disconnect', () => process.exit());

async function attack({ url, names, keys, facts, ms }: AttackOrder): Promise<Readonly<Record<string, AbuseTally>>> {
  const over = new AbortController();
  const { signal } = over;
  setMaxListeners(0, signal);
  const attacks = names.map((name, i) => {
    const abuse = allAbuses.find((each) => each.name === name)!;
    const running = new Attack({ url, keys: [keys[i % keys.length]!], facts, signal, network: i });
    return { name, running, done: abuse.run(running) };
  });
  setTimeout(() => over.abort(), ms);
  await Promise.all(attacks.map(({ done }) => done));
  for (const { running } of attacks) running.close();
  return Object.fromEntries(attacks.map(({ name, running }) => [name, running.tally]));
}
