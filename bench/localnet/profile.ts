import { type Profiler, Session } from 'node:inspector/promises';

/** A part of the work, and how to tell it by the file of a function. The first part that fits a function counts. */
export interface WorkPart {
  readonly name: string;
  readonly file: RegExp;
}

/**
 * Runs something and tells on which parts of the work this thread spent its time: each sample counts for the innermost
 * function that belongs to a part, or else for the whole.
 *
 * @returns milliseconds by name; `waiting` when the thread did nothing, `garbage collection`, and `other`
 */
export async function profile(
  parts: readonly WorkPart[],
  work: () => Promise<void>,
): Promise<ReadonlyMap<string, number>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
    await work();
    const { profile: recorded } = await session.post('Profiler.stop');
    return sumUp(recorded, parts);
  } finally {
    session.disconnect();
  }
}

function sumUp({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, parts: readonly WorkPart[]) {
  const partOf = new Map<number, string | null>();
  const children = new Map(nodes.map(({ id, children: below = [] }) => [id, below]));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const pending: { readonly id: number; readonly part: string | null }[] = [{ id: nodes[0]!.id, part: null }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { functionName, url } = frames.get(next.id)!;
    const own =
      functionName === '(idle)'
        ? 'waiting'
        : functionName === '(garbage collector)'
          ? 'garbage collection'
          : parts.find(({ file }) => file.test(url))?.name;
    const part = own ?? next.part;
    partOf.set(next.id, part);
    for (const id of children.get(next.id) ?? []) pending.push({ id, part });
  }
  const times = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const part = partOf.get(id) ?? 'other';
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[i] ?? 0) / 1000);
  }
  return times;
}
