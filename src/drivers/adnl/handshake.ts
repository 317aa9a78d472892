import { createCipheriv, createDecipheriv, hash } from 'node:crypto';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { type KeyPair, sharedSecret, shortId } from '#drivers/adnl/keys.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** Bytes of the packet with which a client begins. */
export const HANDSHAKE_BYTES = 256;

/** Random bytes that a client sends in it, of which the keys are cut. */
export const PARAMS_BYTES = 160;

/** Key and start of the counter of one direction: AES-256-CTR. */
export interface CipherKey {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** 16 bytes. */
  readonly iv: Uint8Array;
}

/** The keys of a connection. */
export interface SessionKeys {
  readonly toClient: CipherKey;
  readonly toServer: CipherKey;
}

/** Cuts the keys of a connection out of its {@link PARAMS_BYTES} random bytes. */
export function sessionKeys(params: Uint8Array): SessionKeys {
  return {
    toClient: { key: params.slice(0, 32), iv: params.slice(64, 80) },
    toServer: { key: params.slice(32, 64), iv: params.slice(80, 96) },
  };
}

/**
 * The first packet of a client: server's short id, client's key, SHA-256 of the params, the params encrypted.
 *
 * @param client made anew for each connection
 * @param params {@link PARAMS_BYTES} random bytes
 * @throws adnl/server-key when the key of the server is not one
 */
export function buildHandshake(serverPublicKey: Uint8Array, client: KeyPair, params: Uint8Array): Uint8Array {
  const secret = sharedSecret(client, serverPublicKey);
  if (secret === null) throw adnlErrors['server-key']({ key: toHex(serverPublicKey) });
  const digest = hash('sha256', params, 'buffer');
  const { key, iv } = handshakeKey(secret, digest);
  const encrypted = createCipheriv('aes-256-ctr', key, iv).update(params);
  return Buffer.concat([shortId(serverPublicKey), client.publicKey, digest, encrypted], HANDSHAKE_BYTES);
}

/**
 * Reads the first packet of a client and gives the params in it.
 *
 * @param packet {@link HANDSHAKE_BYTES} bytes
 * @param serverId short id of `server`
 * @throws adnl/handshake-other-server, adnl/handshake-client-key, adnl/handshake-digest
 */
export function readHandshake(packet: Uint8Array, server: KeyPair, serverId: Uint8Array): Uint8Array {
  const wanted = packet.subarray(0, 32);
  if (!bytesEqual(wanted, serverId)) throw adnlErrors['handshake-other-server']({ wanted: toHex(wanted) });
  const clientKey = packet.subarray(32, 64);
  const secret = sharedSecret(server, clientKey);
  if (secret === null) throw adnlErrors['handshake-client-key']({ key: toHex(clientKey) });
  const digest = packet.subarray(64, 96);
  const { key, iv } = handshakeKey(secret, digest);
  const params = createDecipheriv('aes-256-ctr', key, iv).update(packet.subarray(96));
  if (!bytesEqual(hash('sha256', params, 'buffer'), digest)) throw adnlErrors['handshake-digest']({});
  return params;
}

function handshakeKey(secret: Uint8Array, digest: Uint8Array): CipherKey {
  return {
    key: Buffer.concat([secret.subarray(0, 16), digest.subarray(16, 32)]),
    iv: Buffer.concat([digest.subarray(0, 4), secret.subarray(20, 32)]),
  };
}
