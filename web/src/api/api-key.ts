/** Where the key of whoever reads is kept: in this tab, until it is closed. */
const STORED = 'tern-api-key';

/** Characters that a header can carry; no key is longer. */
const KEY = /^[\x21-\x7e]{1,200}$/;

/** Why an answer was refused, as far as a key would change it. */
export type KeyRefusal =
  /** There is no such key, or it is for another network. */
  | 'unknown-key'
  /** More requests than are allowed without a key, or with this one. */
  | 'too-many-requests';

/** The API key that requests carry; null: none. */
export function apiKey(): string | null {
  return sessionStorage.getItem(STORED);
}

/** Whether a text can be a key. */
export function isApiKey(text: string): boolean {
  return KEY.test(text);
}

/** Sets the key for this tab, and loads the page with it. @param key null: none from now on */
export function keepApiKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, key);
  location.reload();
}

const listeners = new Set<(refusal: KeyRefusal) => void>();

/** Calls the listener when a server refuses a request for which a key, or another one, would make a difference. @returns what ends that */
export function onKeyRefusal(listener: (refusal: KeyRefusal) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notes the status of an answer. */
export function noteStatus(status: number): void {
  const refusal = status === 401 || status === 403 ? 'unknown-key' : status === 429 ? 'too-many-requests' : null;
  if (refusal !== null) for (const listener of listeners) listener(refusal);
}
