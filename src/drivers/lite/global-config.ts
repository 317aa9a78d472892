import { liteErrors } from '#drivers/lite/errors.js';
import { unsignedShard } from '#formats/tl/block-id.js';
import type { TonNodeBlockIdExt } from '#formats/tl/lite-api.js';
import { fromBase64 } from '#kernel/bytes.js';

const MASTERCHAIN = -1;
const WHOLE_WORKCHAIN = 2n ** 63n;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const SEQNO_MAX = 2 ** 32 - 1;

/** The parts of a global config that a lite client needs. Shards of ids are unsigned. */
export interface GlobalConfig {
  /** Never empty. */
  readonly servers: readonly LiteServerAddress[];
  /** Masterchain zerostate; its seqno is 0. */
  readonly zeroState: TonNodeBlockIdExt;
  /** The trusted block: the newest of `init_block` and `hardforks`; the zerostate when there are none. */
  readonly initBlock: TonNodeBlockIdExt;
  /**
   * Masterchain key blocks of hard forks: the previous validators did not sign them, so no proof passes over them, and trust
   * starts at the last one at the earliest.
   */
  readonly hardforks: readonly TonNodeBlockIdExt[];
  /** Identifies the chain of a local network, which is replaced by a reset or a snapshot; null: another network. */
  readonly incarnation: string | null;
}

/**
 * Parses a global config (`liteclient.config.global`, also published as `config.global`): the JSON file that nodes and
 * lite clients use. Parts not about liteservers and trust, such as `dht`, are ignored.
 *
 * @param text content of the file
 * @param file file name, for errors
 * @throws lite/bad-config
 */
export function parseGlobalConfig(text: string, file: string): GlobalConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    new GlobalConfigField(file, '', (error as Error).message).refuse('JSON');
  }
  const config = new GlobalConfigField(file, '', json);
  const validator = config.member('validator');
  const zeroState = masterchainId(validator.member('zero_state'));
  if (zeroState.seqno !== 0) validator.member('zero_state').member('seqno').refuse('0');
  const initBlock = validator.member('init_block');
  const incarnation = config.member('incarnation');
  const hardforks = validator.member('hardforks').items().map(masterchainId);
  const starts = [zeroState, ...(initBlock.isAbsent ? [] : [masterchainId(initBlock)]), ...hardforks];
  return {
    servers: servers(config),
    zeroState,
    initBlock: starts.reduce((newest, block) => (block.seqno > newest.seqno ? block : newest)),
    hardforks,
    incarnation: incarnation.isAbsent ? null : incarnationOf(incarnation),
  };
}

/** It becomes part of file names. */
function incarnationOf(field: GlobalConfigField): string {
  return /^[0-9a-f]{1,64}$/.test(field.text()) ? field.text() : field.refuse('up to 64 hexadecimal digits');
}

function servers(config: GlobalConfigField): LiteServerAddress[] {
  const whole = config.member('liteservers');
  const parts = config.member('liteservers_v2');
  const all = [
    ...whole.items().map((desc) => address(desc, null)),
    ...parts.items().map((desc) => address(desc, desc.member('slices').items().map(slice))),
  ];
  return all.length > 0 ? all : whole.refuse('a list of at least one server, here or in liteservers_v2');
}

/** `liteserver.desc id:PublicKey ip:int port:int`, or with `hostname` in place of `ip`. */
function address(desc: GlobalConfigField, slices: readonly ServerSlice[] | null): LiteServerAddress {
  const id = desc.member('id');
  id.type('pub.ed25519');
  const publicKey = id.member('key').bytes32();
  const hostname = desc.member('hostname');
  if (!hostname.isAbsent && hostname.value !== '') return { ...hostAndPort(hostname, desc), publicKey, slices };
  const ip = desc.member('ip').integer(INT32_MIN, INT32_MAX);
  if (ip === 0) desc.member('ip').refuse('an address other than 0.0.0.0, as a signed number of 32 bits; or hostname');
  return { host: dotted(ip), port: desc.member('port').integer(1, 65_535), publicKey, slices };
}

/** `name` with a separate port, or `name:port`. */
function hostAndPort(hostname: GlobalConfigField, desc: GlobalConfigField): { host: string; port: number } {
  const allowed = 'a name with a separate port, or name:port';
  const port = desc.member('port');
  const [, host = '', own] = /^([A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(hostname.text()) ?? [];
  if (host === '') hostname.refuse(allowed);
  const isGiven = !port.isAbsent && port.value !== 0;
  if (own === undefined) return { host, port: port.integer(1, 65_535) };
  if (isGiven || Number(own) < 1 || Number(own) > 65_535) hostname.refuse(allowed);
  return { host, port: Number(own) };
}

function dotted(ip: number): string {
  return [24, 16, 8, 0].map((shift) => (ip >>> shift) & 255).join('.');
}

/** `liteserver.descV2.sliceSimple` or `liteserver.descV2.sliceTimed`. */
function slice(field: GlobalConfigField): ServerSlice {
  const type = field.type('liteserver.descV2.sliceSimple', 'liteserver.descV2.sliceTimed');
  if (type.endsWith('sliceSimple')) {
    const shards = field.member('shards').items().map(shard);
    return { range: { from: 0, to: Number.POSITIVE_INFINITY }, shards: shards.filter(isNoMasterchain) };
  }
  const from = field.member('shards_from');
  const to = field.member('shards_to');
  const start = masterchainSeqno(from);
  const end = masterchainSeqno(to);
  if (start === null && end === null) from.refuse('a list of shards, here or in shards_to');
  const range: MasterchainRange = { from: start ?? 0, to: end ?? Number.POSITIVE_INFINITY };
  const named = (start === null ? to : from).items().map((info) => shard(info.member('shard_id')));
  return { range, shards: named.filter(isNoMasterchain) };
}

/** The masterchain seqno of a list of `liteserver.descV2.shardInfo shard_id seqno utime lt`; null when the list is empty. */
function masterchainSeqno(list: GlobalConfigField): number | null {
  const infos = list.items();
  if (infos.length === 0) return null;
  const masterchain = infos.filter((info) => !isNoMasterchain(shard(info.member('shard_id'))));
  if (masterchain.length !== 1) list.refuse('a list that contains the masterchain exactly once');
  return (masterchain[0] as GlobalConfigField).member('seqno').integer(0, SEQNO_MAX);
}

/** `tonNode.shardId workchain:int shard:long` */
function shard(field: GlobalConfigField): SliceShard {
  const workchain = field.member('workchain').integer(INT32_MIN, INT32_MAX);
  const id = unsignedShard(field.member('shard').long());
  if (id === 0n) field.member('shard').refuse('a shard, whose lowest set bit ends its prefix');
  return { workchain, shard: id };
}

function isNoMasterchain({ workchain }: SliceShard): boolean {
  return workchain !== MASTERCHAIN;
}

/** `tonNode.blockIdExt` of a masterchain block. */
function masterchainId(field: GlobalConfigField): TonNodeBlockIdExt {
  const workchain = field.member('workchain');
  if (workchain.integer(INT32_MIN, INT32_MAX) !== MASTERCHAIN) workchain.refuse('-1, the masterchain');
  const shardField = field.member('shard');
  if (unsignedShard(shardField.long()) !== WHOLE_WORKCHAIN) shardField.refuse('-9223372036854775808');
  return {
    workchain: MASTERCHAIN,
    shard: WHOLE_WORKCHAIN,
    seqno: field.member('seqno').integer(0, SEQNO_MAX),
    root_hash: field.member('root_hash').bytes32(),
    file_hash: field.member('file_hash').bytes32(),
  };
}

/** A range of masterchain seqnos, both ends included, that a server with a part of the chain has. */
export interface MasterchainRange {
  readonly from: number;
  /** Infinite when the server follows the chain. */
  readonly to: number;
}

/** A shard of a slice: `-1:8000000000000000`. The shard is unsigned. */
export interface SliceShard {
  readonly workchain: number;
  readonly shard: bigint;
}

/** A part of the chain: `liteserver.descV2.sliceSimple` or `liteserver.descV2.sliceTimed`. */
export interface ServerSlice {
  readonly range: MasterchainRange;
  /** Without the masterchain, whose headers every server has. */
  readonly shards: readonly SliceShard[];
}

/** A liteserver entry of a global config. */
export interface LiteServerAddress {
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Available slices; null for the whole chain (`liteserver.desc`). */
  readonly slices: readonly ServerSlice[] | null;
}

/** `host:port`, the name of a server in errors, logs and metrics. */
export function serverName({ host, port }: Pick<LiteServerAddress, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const MAX_SHOWN = 60;

/** A field of a JSON file; reads the expected value, or refuses with path and reason. */
class GlobalConfigField {
  readonly value: unknown;
  readonly #file: string;
  /** `liteservers[3].id.key`; empty for the root. */
  readonly #path: string;

  constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  get isAbsent(): boolean {
    return this.value === undefined;
  }

  /** @throws lite/bad-config */
  refuse(allowed: string): never {
    const field = this.#path === '' ? 'the file' : this.#path;
    throw liteErrors['bad-config']({ file: this.#file, field, found: shown(this.value), allowed });
  }

  /** A member of this field, which must be an object. */
  member(name: string): GlobalConfigField {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.refuse('an object');
    const path = this.#path === '' ? name : `${this.#path}.${name}`;
    const member = Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
    return new GlobalConfigField(this.#file, path, member);
  }

  /** The items of this field, which must be a list; none when it is absent. */
  items(): GlobalConfigField[] {
    const { value } = this;
    if (value === undefined) return [];
    if (!Array.isArray(value)) this.refuse('a list');
    return value.map((item, i) => new GlobalConfigField(this.#file, `${this.#path}[${i}]`, item));
  }

  integer(least: number, most: number): number {
    const { value } = this;
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    return this.refuse(`a whole number from ${least} to ${most}`);
  }

  /**
   * A signed 64-bit integer, as number or string. Numbers beyond 2^53 may have lost precision in programs with
   * floating-point numbers only; the shards in use are exact nevertheless.
   */
  long(): bigint {
    const { value } = this;
    const isText = typeof value === 'string' && /^-?\d{1,19}$/.test(value);
    if (!isText && !Number.isInteger(value)) this.refuse('a whole number of 64 bits');
    const long = BigInt(value as string | number);
    return BigInt.asIntN(64, long) === long ? long : this.refuse('a whole number of 64 bits, from -2^63 to 2^63 - 1');
  }

  text(): string {
    const { value } = this;
    return typeof value === 'string' && value !== '' ? value : this.refuse('a non-empty string');
  }

  /** 32 bytes, in base64. */
  bytes32(): Uint8Array {
    const { value } = this;
    const bytes = typeof value === 'string' ? fromBase64(value) : null;
    return bytes?.length === 32 ? bytes : this.refuse('32 bytes in base64');
  }

  /** The `@type` of this field, which must be one of the given constructors. */
  type(...allowed: readonly string[]): string {
    const type = this.member('@type');
    if (typeof type.value === 'string' && allowed.includes(type.value)) return type.value;
    return type.refuse(allowed.map((each) => `"${each}"`).join(' or '));
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
