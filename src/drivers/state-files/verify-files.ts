import { stateFilesErrors } from '#drivers/state-files/errors.js';
import type { RecognizedFile, VerifiedStateFile } from '#drivers/state-files/state-set.js';
import type { VerifyThreadContract } from '#drivers/state-files/verify-protocol.js';
import { WorkerThread } from '#kernel/worker-thread.js';

export interface VerifyFilesOptions {
  /** Files verified at the same time, each in a thread of its own. */
  readonly threads: number;
  /** Memory for hashes, of all threads together, in bytes. */
  readonly hashBytes: number;
  /** Folder of scratch files: up to 34 bytes per cell of a file for each thread. */
  readonly folder: string;
  /** @param share of all bytes that is verified, 0 to 1 */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Verifies all bytes of some files, the largest first.
 *
 * @throws state-files/*, those of the first file that fails
 */
export async function verifyFiles(
  files: readonly RecognizedFile[],
  options: VerifyFilesOptions,
): Promise<readonly VerifiedStateFile[]> {
  const { hashBytes, folder, onProgress, signal } = options;
  const threads = Math.min(options.threads, files.length);
  const total = files.reduce((sum, { file }) => sum + file.source.size, 0);
  const done = files.map(() => 0);
  const waiting = files.map((recognized, i) => ({ recognized, i }));
  waiting.sort((a, b) => b.recognized.file.source.size - a.recognized.file.source.size);
  const verified: VerifiedStateFile[] = [];
  const running = new Set<WorkerThread<VerifyThreadContract>>();
  const stop = (): void => running.forEach((thread) => void thread.terminate());
  signal.addEventListener('abort', stop, { once: true });
  const run = async (): Promise<void> => {
    let current = 0;
    const thread = new WorkerThread<VerifyThreadContract>({
      entry: new URL('./verify-main.js', import.meta.url),
      start: undefined,
      host: {
        progress: (share) => {
          done[current] = share * files[current]!.file.source.size;
          onProgress(done.reduce((sum, each) => sum + each, 0) / total);
        },
      },
      lost: (problem, thrown) => stateFilesErrors['thread-lost']({ problem: thrown?.stack ?? problem }),
      closed: () => stateFilesErrors['thread-lost']({ problem: 'it was stopped' }),
      unexpected: (problem, cause) => stateFilesErrors.unexpected({ problem }, cause),
    });
    running.add(thread);
    try {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        current = next.i;
        const { recognized, i } = next;
        const path = recognized.file.source.name;
        const result = await thread.call.verify({ path, hashBytes: Math.floor(hashBytes / threads), folder });
        verified[i] = { recognized, root_hash: result.root_hash };
      }
    } catch (error) {
      waiting.length = 0;
      stop();
      throw error;
    } finally {
      running.delete(thread);
      await thread.terminate();
    }
  };
  try {
    const all = await Promise.allSettled(Array.from({ length: threads }, run));
    // The first failure stops the other threads, which then fail too.
    const failures = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    const [failure] = failures.toSorted((a, b) => Number(isStopped(a)) - Number(isStopped(b)));
    if (failure !== undefined) throw failure;
    return verified;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function isStopped(error: Error): boolean {
  return (error as { readonly code?: string }).code === 'state-files/thread-lost';
}
