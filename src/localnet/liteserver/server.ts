import type { RandomBytes } from '#drivers/adnl/keys.js';
import { type AdnlServer, listenAdnl } from '#drivers/adnl/server.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { signedShard } from '#formats/tl/block-id.js';
import { toBase64 } from '#kernel/bytes.js';
import { answerLiteQuery, type LiteModules } from '#localnet/liteserver/answer.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';

/** Dependencies of a liteserver. */
export interface LiteserverModules extends LiteModules {
  readonly randomBytes: RandomBytes;
  /** Called when a client is disconnected or gets no answer, and with defects; must not throw. */
  readonly onFault?: (error: unknown, remote: string) => void;
}

/**
 * Starts a liteserver over a ledger. Resolves when it listens; `close()` stops it.
 * @throws adnl/bad-option, adnl/listen-failed
 */
export function startLiteserver(options: LiteserverOptions, modules: LiteserverModules): Promise<AdnlServer> {
  const { clock, randomBytes, onFault } = modules;
  return listenAdnl(options, {
    clock,
    randomBytes,
    ...(onFault === undefined ? {} : { onFault }),
    onQuery: async (query, { signal, remote }) => {
      const onDefect = (error: unknown) => onFault?.(error, remote);
      const answer = await answerLiteQuery(query, { ...modules, onDefect }, signal);
      if (answer === null) throw liteserverErrors['bad-query']({ problem: 'a query that is no liteServer.query' });
      return answer;
    },
  });
}

/** Address and key of a liteserver. Omitted fields have the defaults of drivers/adnl. */
export interface LiteserverOptions {
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, selects a free port. */
  readonly port?: number;
  /** Seed of the server's Ed25519 key, 32 bytes. */
  readonly seed: Uint8Array;
}

/** A liteserver in a global config. */
export interface ConfiguredLiteserver {
  /** IPv4 address. */
  readonly host: string;
  readonly port: number;
  readonly publicKey: Uint8Array;
  /** Identifies the chain of a local network, which may be replaced; other lite clients ignore it. */
  readonly incarnation?: string;
}

/**
 * The global config (`global.config.json`) of a network with one liteserver. Returned as text, since it contains 64-bit
 * numbers.
 */
export function globalConfig({ host, port, publicKey, incarnation }: ConfiguredLiteserver, zerostate: BlockId): string {
  const shard = 'SHARD';
  const block = {
    workchain: zerostate.workchain,
    shard,
    seqno: 0,
    root_hash: toBase64(zerostate.root_hash),
    file_hash: toBase64(zerostate.file_hash),
  };
  const config = {
    '@type': 'config.global',
    liteservers: [{ ip: addressNumber(host), port, id: { '@type': 'pub.ed25519', key: toBase64(publicKey) } }],
    validator: { '@type': 'validator.config.global', zero_state: block, init_block: block, hardforks: [] },
    ...(incarnation === undefined ? {} : { incarnation }),
  };
  const text = JSON.stringify(config, null, 2).replaceAll(`"${shard}"`, String(signedShard(zerostate.shard)));
  return `${text}\n`;
}

/** An IPv4 address as a signed 32-bit number. */
function addressNumber(host: string): number {
  return host.split('.').reduce((number, part) => (number << 8) | Number(part), 0);
}
