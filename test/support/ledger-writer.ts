/** A process that writes chains until it is killed: `node … ledger-writer.ts FOLDER`. It says what it has done, line by line. */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { hasChain, resetChain, restoreSnapshot } from '#localnet/ledger/snapshots.js';
import { newBundles } from '#test/support/new-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const folder = process.argv[2]!;
const { genesis, bundles } = newBundles(vectorPath('recorded-chain'));
const options = { packBytes: 30_000, checkpointBytes: 40_000 };
const say = (text: string): void => void writeSync(1, `${text}\n`);

say('ready');
for (let turn = 0; ; turn++) {
  const ledger = hasChain(folder) ? LiveLedger.open(folder, options) : LiveLedger.create(folder, genesis, options);
  say(`chain ${ledger.incarnation} ${ledger.head?.id.seqno ?? 0}`);
  for (const bundle of bundles.slice(ledger.head?.id.seqno ?? 0)) {
    ledger.append(bundle);
    say(`chain ${ledger.incarnation} ${bundle.masterchain.id.seqno}`);
    if (bundle.masterchain.id.seqno !== 5) continue;
    for (const { name } of ledger.snapshots()) ledger.deleteSnapshot(name);
    ledger.saveSnapshot(`s${turn}`);
  }
  const [snapshot] = ledger.snapshots();
  ledger.close();
  say('change');
  if (turn % 2 === 0 && snapshot !== undefined) restoreSnapshot(folder, snapshot.name);
  else resetChain(folder);
}
