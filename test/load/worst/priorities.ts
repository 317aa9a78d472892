import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/**
 * Lets a process go before others: the network, the attackers and Tern share processors here, and would not elsewhere. Threads
 * that put themselves behind stay as far behind.
 *
 * @returns false when this process may not
 */
export function raisePriority(pid: number, by: number): boolean {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      setPriority(Number(thread), getPriority(Number(thread)) + by);
    }
    return true;
  } catch {
    return false;
  }
}
