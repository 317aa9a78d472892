/** What a request wants back as it gave it. */
export interface Echo {
  /** The `@extra` of the request; null when it gave none. */
  readonly extra: string | null;
  /** Of JSON-RPC: the `id` as JSON text, `''` without one; null for other requests. */
  readonly rpcId: string | null;
}

export const NO_ECHO: Echo = { extra: null, rpcId: null };

/** The `@extra` of an answer whose request gave none: when, where, how long it took, `c` for an answer from the cache. */
export function generatedExtra(unixTimeMs: number, origin: string, elapsedMs: number, isCached: boolean): string {
  const elapsed = Math.round(elapsedMs * 1000) / 1000;
  return `${Math.floor(unixTimeMs / 1000)}:${origin}:${elapsed}${isCached ? ':c' : ''}`;
}

/** @param result JSON text */
export function successBody(result: string, extra: string, rpcId: string | null): string {
  return `{"ok":true,"result":${result},"@extra":${JSON.stringify(extra)}${rpcFields(rpcId)}}`;
}

/** @param result repeats the error under `result`, for clients that look there first */
export function failureBody(error: string, code: number, extra: string, rpcId: string | null, result = false): string {
  const text = JSON.stringify(error);
  const repeated = result ? `,"result":${text}` : '';
  return `{"ok":false,"error":${text}${repeated},"code":${code},"@extra":${JSON.stringify(extra)}${rpcFields(rpcId)}}`;
}

function rpcFields(rpcId: string | null): string {
  if (rpcId === null) return '';
  return rpcId === '' ? ',"jsonrpc":"2.0"' : `,"jsonrpc":"2.0","id":${rpcId}`;
}
