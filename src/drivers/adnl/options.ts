import { adnlErrors } from '#drivers/adnl/errors.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import { MAX_PACKET_LENGTH, MIN_PACKET_LENGTH } from '#drivers/adnl/wire.js';
import type { Clock } from '#kernel/clock.js';

/** What both sides of ADNL need from outside. */
export interface AdnlModules {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Counts into this object when given. */
  readonly metrics?: AdnlMetrics;
}

/** Limits of a connection, of either side. */
export interface ConnectionOptions {
  /** Greatest length of a packet that is taken, in bytes; also the limit for sending. 128 to 2^24; default 2^24. */
  readonly maxPacketLength: number;
  /** A packet must be complete this long after its first byte. Default 60 s. */
  readonly packetTimeoutMs: number;
  /** The peer must take something of what waits for it within this time. Default 30 s. */
  readonly writeTimeoutMs: number;
  /** Above this many waiting bytes nothing new is begun: no query sent, no query taken. Default 1 MiB. */
  readonly outgoingHighWaterBytes: number;
  /** A peer for which more than this would wait is cut off. Default 256 MiB. */
  readonly outgoingMaxBytes: number;
  /** A ping is sent after so long without a byte from the peer; 0 for never. Default 10 s as client, 0 as server. */
  readonly pingAfterMs: number;
  /** The connection ends after so long without a byte from the peer. Default 20 s as client, 60 s as server. */
  readonly deadAfterMs: number;
}

/** Where to connect, and within which limits. */
export interface AdnlClientOptions extends Partial<ConnectionOptions> {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  /** Ed25519 public key of the server, 32 bytes. */
  readonly serverPublicKey: Uint8Array;
  /** Within which the TCP connection must stand. Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** Within which the server must answer the handshake, from then on. Default 5 s. */
  readonly handshakeTimeoutMs?: number;
  /** For queries that do not say otherwise. Default 10 s. */
  readonly queryTimeoutMs?: number;
  /** Queries sent and not answered; more of them wait. Default 256. */
  readonly maxInFlight?: number;
  /** Queries that wait to be sent; more of them are refused. Default 4,096. */
  readonly maxWaiting?: number;
  /** Calls off connecting; an established connection does not listen to it. */
  readonly signal?: AbortSignal;
}

/** Where to listen, as whom, and within which limits. */
export interface AdnlServerOptions extends Partial<ConnectionOptions> {
  /** Seed of the server's Ed25519 key, 32 bytes. */
  readonly seed: Uint8Array;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, for one that is free. */
  readonly port?: number;
  /** Clients at a time; more are turned away. Default 1,024. */
  readonly maxConnections?: number;
  /** Queries of one client being answered; more of them wait, and the client is not read from. Default 256. */
  readonly maxInFlight?: number;
  /** Within which a client must finish its handshake. Default 5 s. */
  readonly handshakeTimeoutMs?: number;
  /** How long `close()` lets queries be answered before it cuts the connections. Default 5 s. */
  readonly closeGraceMs?: number;
}

const CONNECTION_DEFAULTS: ConnectionOptions = {
  maxPacketLength: MAX_PACKET_LENGTH,
  packetTimeoutMs: 60_000,
  writeTimeoutMs: 30_000,
  outgoingHighWaterBytes: 2 ** 20,
  outgoingMaxBytes: 2 ** 28,
  pingAfterMs: 10_000,
  deadAfterMs: 20_000,
};

const CLIENT_DEFAULTS = {
  ...CONNECTION_DEFAULTS,
  connectTimeoutMs: 5_000,
  handshakeTimeoutMs: 5_000,
  queryTimeoutMs: 10_000,
  maxInFlight: 256,
  maxWaiting: 4_096,
};

const SERVER_DEFAULTS = {
  ...CONNECTION_DEFAULTS,
  pingAfterMs: 0,
  deadAfterMs: 60_000,
  host: '127.0.0.1',
  port: 0,
  maxConnections: 1_024,
  maxInFlight: 256,
  handshakeTimeoutMs: 5_000,
  closeGraceMs: 5_000,
};

export type CheckedClientOptions = typeof CLIENT_DEFAULTS &
  Pick<AdnlClientOptions, 'host' | 'port' | 'serverPublicKey'>;
export type CheckedServerOptions = typeof SERVER_DEFAULTS & Pick<AdnlServerOptions, 'seed'>;

/** Fills in defaults and checks bounds. @throws adnl/bad-option */
export function checkClientOptions(options: AdnlClientOptions): CheckedClientOptions {
  const { signal: _, ...rest } = options;
  const checked = { ...CLIENT_DEFAULTS, ...withoutUndefined(rest) } as CheckedClientOptions;
  checkConnection(checked);
  checkHost(checked.host);
  checkInteger(checked, 'port', 1, 65_535);
  checkKey('serverPublicKey', checked.serverPublicKey);
  checkInteger(checked, 'connectTimeoutMs', 1);
  checkInteger(checked, 'handshakeTimeoutMs', 1);
  checkInteger(checked, 'queryTimeoutMs', 1);
  checkInteger(checked, 'maxInFlight', 1);
  checkInteger(checked, 'maxWaiting', 0);
  return checked;
}

/** Fills in defaults and checks bounds. @throws adnl/bad-option */
export function checkServerOptions(options: AdnlServerOptions): CheckedServerOptions {
  const checked = { ...SERVER_DEFAULTS, ...withoutUndefined(options) } as CheckedServerOptions;
  checkConnection(checked);
  checkHost(checked.host);
  checkInteger(checked, 'port', 0, 65_535);
  checkKey('seed', checked.seed);
  checkInteger(checked, 'maxConnections', 1);
  checkInteger(checked, 'maxInFlight', 1);
  checkInteger(checked, 'handshakeTimeoutMs', 1);
  checkInteger(checked, 'closeGraceMs', 0);
  return checked;
}

function checkConnection(options: ConnectionOptions): void {
  checkInteger(options, 'maxPacketLength', 2 * MIN_PACKET_LENGTH, MAX_PACKET_LENGTH);
  checkInteger(options, 'packetTimeoutMs', 1);
  checkInteger(options, 'writeTimeoutMs', 1);
  checkInteger(options, 'outgoingHighWaterBytes', 1);
  checkInteger(options, 'outgoingMaxBytes', options.maxPacketLength);
  checkInteger(options, 'pingAfterMs', 0);
  checkInteger(options, 'deadAfterMs', 1);
}

/** Without what is undefined, which would hide a default. */
function withoutUndefined<Options extends object>(options: Options): Partial<Options> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<Options>;
}

/** The longest time and the greatest count that make sense: what fits into 31 bits. */
const MAX_INT31 = 2 ** 31 - 1;

function checkInteger<Options>(
  options: Options,
  option: keyof Options & string,
  least: number,
  most = MAX_INT31,
): void {
  const found: unknown = options[option];
  if (Number.isSafeInteger(found) && (found as number) >= least && (found as number) <= most) return;
  throw adnlErrors['bad-option']({ option, found: String(found), accepted: `a whole number from ${least} to ${most}` });
}

function checkHost(found: unknown): void {
  if (typeof found === 'string' && found !== '') return;
  throw adnlErrors['bad-option']({ option: 'host', found: `"${String(found)}"`, accepted: 'a name or an address' });
}

function checkKey(option: string, found: unknown): void {
  if (found instanceof Uint8Array && found.length === 32) return;
  const what = found instanceof Uint8Array ? `${found.length} bytes` : String(found);
  throw adnlErrors['bad-option']({ option, found: what, accepted: '32 bytes' });
}
