import type { BlockId } from '#formats/proofs/block-id.js';
import { signedShard } from '#formats/tl/block-id.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** A liteserver as a client's configuration names it. */
export interface ConfiguredLiteserver {
  /** IPv4 address. */
  readonly host: string;
  readonly port: number;
  readonly publicKey: Uint8Array;
}

/** The configuration for clients (`global.config.json`) of a network with one liteserver. Text, as numbers in it have 64 bits. */
export function globalConfig({ host, port, publicKey }: ConfiguredLiteserver, zerostate: BlockId): string {
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
  };
  const text = JSON.stringify(config, null, 2).replaceAll(`"${shard}"`, String(signedShard(zerostate.shard)));
  return `${text}\n`;
}

/** An IPv4 address as a signed number of 32 bits. */
function addressNumber(host: string): number {
  return host.split('.').reduce((number, part) => (number << 8) | Number(part), 0);
}
