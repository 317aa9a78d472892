/**
 * What the emulator is: that of the TON sources at this commit, as its `version` export says. It has the rules of every
 * global version (parameter 8 of the configuration) up to 13, as tests against a network of version 13 show: all of 2,300
 * get methods and of 11,400 transactions, except that it counts the cells of extra currencies in the fee for returning a
 * message, and that it crashes on an action that sends a broken dictionary of them. Newer versions it does not refuse: it
 * runs them by the rules of 13.
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
