// Loaded with `--import` into the main thread and each worker thread of a Tern process. Counts which functions run
// (V8 precise coverage) between a `reset` and a `take`, and reports the files that hold them. Used by `trips.mjs`.
import { Session } from 'node:inspector/promises';
import process from 'node:process';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The URLs of the scripts of this thread in which a function was called since the last call. */
async function calledScripts() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => url);
}

const channel = new BroadcastChannel('tern-structure-coverage');
if (isMainThread) {
  const files = new Set();
  channel.onmessage = ({ data }) => {
    if (Array.isArray(data)) for (const url of data) files.add(url);
  };
  process.on('message', async (command) => {
    if (command !== 'reset' && command !== 'take') return;
    channel.postMessage(command);
    const own = await calledScripts();
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (command === 'take') process.send?.([...new Set([...own, ...files])]);
    else process.send?.('reset');
    files.clear();
  });
} else if (!process.argv[1]?.includes('/localnet/')) {
  channel.onmessage = async ({ data }) => {
    if (data !== 'reset' && data !== 'take') return;
    channel.postMessage(await calledScripts());
  };
}
channel.unref();
