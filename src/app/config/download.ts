import { configErrors } from '#app/config/errors.js';
import { isTernError } from '#kernel/errors/tern-error.js';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** The text at a URL. @throws config/network-list */
export async function download(url: string): Promise<string> {
  const refuse = (problem: string, cause?: unknown) => configErrors['network-list']({ source: url, problem }, cause);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'follow' });
    if (!response.ok) throw refuse(`the server answers ${response.status}`);
    const bytes: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw refuse(`it has more than ${MAX_BYTES} bytes`);
      bytes.push(chunk);
    }
    return Buffer.concat(bytes).toString('utf8');
  } catch (error) {
    if (isTernError(error)) throw error;
    const { name, message, cause } = error as Error;
    if (name === 'TimeoutError') throw refuse(`no answer within ${TIMEOUT_MS / 1000} s`, error);
    // `fetch failed` says nothing; its cause does.
    throw refuse(cause instanceof Error && cause.message !== '' ? cause.message : message, error);
  }
}
