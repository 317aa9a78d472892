import { readFileSync } from 'node:fs';
import { ownMs, type Stall } from './probe-readings.js';

/** What of a V8 CPU profile is read. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** What the main thread did during a stall, or in all of the time. */
export interface StallCause {
  /** Milliseconds; of a stall not counting what it waited for a processor. */
  readonly ms: number;
  /** Functions in which it was most of that time, with their share of it, 0 to 1. */
  readonly functions: readonly { readonly name: string; readonly share: number }[];
  /** Outermost functions: what it was woken up for. */
  readonly roots: StallCause['functions'];
  /** Functions of Tern that it was in, directly or by what they called: shares overlap. */
  readonly within: readonly { readonly name: string; readonly share: number }[];
}

const FUNCTIONS = 3;
const WITHIN = 8;
/** In files of the measured program, built or not. */
const OWN_FILE = /\/(?:dist|src)\/(.+)$/;
const TICK_US = 5_000;

/** The causes of the longest stalls, by a CPU profile of the time; first what was done in all of it. @param file that the probe wrote */
export function stallCauses(file: string, stalls: readonly Stall[], count: number): StallCause[] {
  const profile: CpuProfile = JSON.parse(readFileSync(file, 'utf8'));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const times: number[] = [];
  let time = profile.startTime;
  for (const delta of profile.timeDeltas) {
    time += delta;
    times.push(time);
  }
  const between = (begin: number, end: number, kept: { readonly functions: number; readonly within: number }) => {
    const functions = new Map<string, number>();
    const within = new Map<string, number>();
    const roots = new Map<string, number>();
    let total = 0;
    for (const [i, at] of times.entries()) {
      if (at < begin || at > end) continue;
      const node = nodes.get(profile.samples[i]!)!;
      if (node.callFrame.functionName === '(idle)') continue;
      const took = profile.timeDeltas[i + 1] ?? 0;
      total += took;
      add(functions, frameName(node), took);
      for (const name of ownFunctions(node, nodes, parents)) add(within, name, took);
      add(roots, frameName(outermost(node, nodes, parents)), took);
    }
    return {
      ms: total / 1000,
      functions: most(functions, total, kept.functions),
      within: most(within, total, kept.within),
      roots: most(roots, total, kept.within),
    };
  };
  const longest = stalls.toSorted((a, b) => ownMs(b) - ownMs(a)).slice(0, count);
  return [
    between(profile.startTime, time, { functions: 10 * FUNCTIONS, within: 5 * WITHIN }),
    ...longest.map((stall) => ({
      ...between(stall.end - stall.ms * 1000 - TICK_US, stall.end, { functions: FUNCTIONS, within: WITHIN }),
      ms: ownMs(stall),
    })),
  ];
}

/** The function that the event loop called. */
function outermost(
  leaf: ProfileNode,
  nodes: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): ProfileNode {
  let found = leaf;
  for (let node: ProfileNode | undefined = leaf; node !== undefined; node = nodes.get(parents.get(node.id) ?? -1)) {
    if (node.callFrame.functionName !== '(root)') found = node;
  }
  return found;
}

/** Each once, though it may call itself. */
function ownFunctions(
  leaf: ProfileNode,
  nodes: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (let node: ProfileNode | undefined = leaf; node !== undefined; node = nodes.get(parents.get(node.id) ?? -1)) {
    const { url } = node.callFrame;
    if (OWN_FILE.test(url) && !url.includes('node_modules')) found.add(frameName(node));
  }
  return found;
}

function frameName({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const file = url.includes('node_modules')
    ? url.slice(url.lastIndexOf('node_modules/') + 'node_modules/'.length)
    : (OWN_FILE.exec(url)?.[1] ?? url);
  return `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`;
}

function add(sums: Map<string, number>, name: string, value: number): void {
  sums.set(name, (sums.get(name) ?? 0) + value);
}

function most(sums: ReadonlyMap<string, number>, total: number, count: number): { name: string; share: number }[] {
  const sorted = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, count);
  return sorted.map(([name, sum]) => ({ name, share: total === 0 ? 0 : sum / total }));
}
