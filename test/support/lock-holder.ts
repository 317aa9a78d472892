// A thread that locks a folder and never ends by itself.
import { parentPort, workerData } from 'node:worker_threads';
import { lockFolder } from '#localnet/ledger/ledger-files.js';

lockFolder((workerData as { readonly start: string }).start);
parentPort!.postMessage('locked');
setInterval(() => {}, 1_000);
