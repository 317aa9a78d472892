import { createHmac } from 'node:crypto';
import { webhookErrors } from '#services/webhooks/errors.js';

/** Standard Webhooks: secrets have 24 to 64 bytes. */
const SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;
const SECRET_BYTES = 32;

/** A new secret. @param randomBytes must be unpredictable */
export function newSecret(randomBytes: (size: number) => Uint8Array): string {
  return `whsec_${Buffer.from(randomBytes(SECRET_BYTES)).toString('base64')}`;
}

/**
 * The headers of a delivery (Standard Webhooks 1.0): the id, the same for each attempt; the time of the attempt in seconds; and
 * HMAC-SHA256 over `id.timestamp.body`, with each of the secrets.
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  body: string,
  unixSeconds: number,
): Record<string, string> {
  const signed = `${id}.${unixSeconds}.${body}`;
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(secret, signed)}`).join(' '),
  };
}

function signatureOf(secret: string, signed: string): string {
  const key = SECRET.exec(secret)?.[1];
  if (key === undefined) throw webhookErrors.parameter({ parameter: 'secret', problem: 'it is not whsec_ and base64' });
  return createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64');
}
