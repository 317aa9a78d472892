import { type Recording, ReplayLedger, type ReplayRange, readRecording } from '#localnet/replay/replay-ledger.js';

const kept = new Map<string, Recording>();

/** As `readRecording`; each process of a test run reads and checks a recording once. */
export function keptRecording(folder: string, to: number | null): Recording {
  const key = `${to} ${folder}`;
  const recording = kept.get(key) ?? readRecording(folder, to);
  kept.set(key, recording);
  return recording;
}

/** As `openReplay`, of such a recording. */
export function keptReplay(folder: string, { to, head }: ReplayRange): ReplayLedger {
  return new ReplayLedger(keptRecording(folder, to), head);
}
