/**
 * What the emulator is: that of the TON sources at this commit, as its `version` export says. It executes every global
 * version (parameter 8 of the configuration) up to 13 as the network does. It does not refuse newer ones: it runs them
 * by the rules of 13.
 */
export const EMULATOR = {
  package: '@ton/sandbox',
  package_version: '0.41.0',
  commit: 'f801e1c1a4ddb5abf41033f51a7c74ab72dfdc07',
  date: '2025-12-05',
  global_version: 13,
} as const;

/** Whether the emulator has the rules of a network with this global version. If not, its results may be wrong. */
export function emulatorKnows(globalVersion: number): boolean {
  return globalVersion <= EMULATOR.global_version;
}
