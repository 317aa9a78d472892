import type { Profile } from '#api/http/http-api.js';
import type { TernError } from '#kernel/tern-error.js';
import { isTernError } from '#kernel/tern-error.js';

/** Which request a problem is one of; live services name it. */
export type RequestName =
  | 'subscription request'
  | 'request envelope'
  | 'subscribe request'
  | 'unsubscribe request'
  | string;

/** JSON as the encoder of live services writes it: characters that HTML has a meaning for are escaped. */
export function htmlSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (each) => {
    return `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The sentence of an error. @param name of the request @param held accounts of the subscription before it; null: not a WebSocket */
export function problemText(error: unknown, profile: Profile, name: RequestName, held: number | null): string {
  if (!isTernError(error)) return 'internal error';
  const { code, data, message } = error as TernError;
  if (code === 'stream/request') return `invalid ${name}: ${data.problem}`;
  if (code === 'stream/subscription' && profile === 'toncenter') return String(data.problem);
  if (code === 'stream/too-many-addresses' && held !== null) {
    return `address limit exceeded: current ${held} + new ${data.found} > max ${data.most}`;
  }
  return error.class === 'internal' ? 'internal error' : message;
}

/** The HTTP status of an error of a request. */
export function refusalStatus(error: unknown, profile: Profile): number {
  if (!isTernError(error)) return 500;
  switch (error.class) {
    case 'caller':
      return profile === 'toncenter' ? 400 : 422;
    case 'not-found':
      return profile === 'toncenter' ? 400 : 404;
    case 'overloaded':
      return ['stream/too-many-connections', 'http/work-limit'].includes(error.code) ? 429 : 503;
    case 'shutting-down':
    case 'upstream':
      return 503;
    default:
      return 500;
  }
}

/** `{"id"?, "error"}` @param id null: none */
export function failureJson(id: string | null, error: string): string {
  return htmlSafeJson(id === null ? { error } : { id, error });
}

/** `{"id"?, "status", "cursor"?}` @param id null: none @param cursor null: none, as the reference answers */
export function acknowledgement(id: string | null, status: string, cursor: string | null): string {
  return htmlSafeJson({ ...(id === null ? {} : { id }), status, ...(cursor === null ? {} : { cursor }) });
}
