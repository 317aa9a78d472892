import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import { type ExportedStates, exportStates } from '#localnet/replay/state-export.js';

/** State files in a folder of their own, which {@link removeExportedStates} removes. */
export interface TestStates extends ExportedStates {
  readonly folder: string;
}

const folders: string[] = [];

/** A new temporary folder. */
export function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tern-states-'));
  folders.push(folder);
  return folder;
}

/** Writes the states after a masterchain block of a recorded chain. */
export function testStates(ledger: Ledger, seqno: number, splitDepth: number): TestStates {
  const folder = stateFolder();
  return { folder, ...exportStates(ledger, seqno, folder, splitDepth) };
}

export function removeExportedStates(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
