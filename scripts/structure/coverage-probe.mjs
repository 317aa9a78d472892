// Loaded with `--import` into the main thread and each worker thread of a Tern process. Counts the calls of functions
// (V8 precise coverage) between a `reset` and a `take`, by the file that holds them. Used by `trips.mjs`.
import { Session } from 'node:inspector/promises';
import process from 'node:process';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Calls of functions since the last time, by the URL of the script. @returns {Promise<[string, number][]>} */
async function calls() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
    .map(({ url, functions }) => [url, functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0)]);
}

const channel = new BroadcastChannel('tern-structure-coverage');
if (isMainThread) {
  /** @type {Record<string, number>} */
  let counted = {};
  const add = (/** @type {[string, number][]} */ found) => {
    for (const [url, count] of found) if (count > 0) counted[url] = (counted[url] ?? 0) + count;
  };
  channel.onmessage = ({ data }) => {
    if (Array.isArray(data)) add(data);
  };
  process.on('message', async (command) => {
    if (command !== 'reset' && command !== 'take') return;
    channel.postMessage(command);
    add(await calls());
    await new Promise((resolve) => setTimeout(resolve, 150));
    process.send?.(command === 'take' ? counted : 'reset');
    counted = {};
  });
} else if (!process.argv[1]?.includes('/localnet/')) {
  channel.onmessage = async ({ data }) => {
    if (data !== 'reset' && data !== 'take') return;
    channel.postMessage(await calls());
  };
}
channel.unref();
