import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { serviceErrors } from '#app/service/errors.js';

/** Open files without which Tern does not start: its modules are read at the same time. */
export const MIN_OPEN_FILES = 256;

/** Heap that the caches and an idle service take, in MB. */
export const MIN_HEAP_MB = 256;

/** Open files for everything but client connections: liteservers, the database, files of a local network. */
const RESERVED_FILES = 192;

/** What the operating system and the options of Node allow this process. */
export interface ProcessLimits {
  /** `null` where there is no limit. */
  readonly openFiles: number | null;
  readonly heapMb: number;
}

/** The limits of this process. */
export function processLimits(): ProcessLimits {
  return {
    openFiles: openFileLimit(),
    heapMb: Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20),
  };
}

const LINUX_LIMITS = '/proc/self/limits';

/** `null` where there is none, as on Windows. */
function openFileLimit(): number | null {
  const soft = existsSync(LINUX_LIMITS) ? linuxOpenFileLimit() : reportedOpenFileLimit();
  return Number.isInteger(soft) ? soft : null;
}

function linuxOpenFileLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync(LINUX_LIMITS, 'latin1'))?.[1]);
}

/** The way to read it that Node has on all systems; a report takes a tenth of a second. */
function reportedOpenFileLimit(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  return Number(report.userLimits?.open_files?.soft);
}

/** Refuses limits with which Node would end the process sooner or later. @throws service/open-files, service/heap */
export function requireProcessLimits({ openFiles, heapMb }: ProcessLimits): void {
  if (openFiles !== null && openFiles < MIN_OPEN_FILES) {
    throw serviceErrors['open-files']({ found: openFiles, least: MIN_OPEN_FILES });
  }
  if (heapMb < MIN_HEAP_MB) throw serviceErrors.heap({ found: heapMb, least: MIN_HEAP_MB });
}

/**
 * How many connections a listener may take, so that files remain for what answers them.
 *
 * @param wanted the setting
 * @param listeners that share the limit
 */
export function affordableConnections(wanted: number, { openFiles }: ProcessLimits, listeners: number): number {
  if (openFiles === null) return wanted;
  return Math.min(wanted, Math.max(1, Math.floor((openFiles - RESERVED_FILES) / listeners)));
}
