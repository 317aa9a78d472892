import { contractDataErrors } from '#domain/contracts/errors.js';
import { MethodResult } from '#domain/contracts/get-method.js';
import { sha256KeyOf } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { accountOf, MsgAddressInt } from '#formats/tlb/msg-address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { concatBytes, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/**
 * One record of a domain (TEP-81).
 *
 * ```
 * dns_text#1eda _:Text = DNSRecord;
 * dns_next_resolver#ba93 resolver:MsgAddressInt = DNSRecord;
 * dns_adnl_address#ad01 adnl_addr:bits256 flags:(## 8) { flags <= 1 } proto_list:flags.0?ProtoList = DNSRecord;
 * dns_smc_address#9fd3 smc_addr:MsgAddressInt flags:(## 8) { flags <= 1 } cap_list:flags.0?SmcCapList = DNSRecord;
 * dns_storage_address#7473 bag_id:bits256 = DNSRecord;
 * ```
 */
export type DnsRecord =
  | { readonly kind: 'dns_text'; readonly text: string }
  | { readonly kind: 'dns_next_resolver'; readonly resolver: Address }
  /** 32 bytes. */
  | { readonly kind: 'dns_adnl_address'; readonly adnl_addr: Uint8Array }
  | { readonly kind: 'dns_smc_address'; readonly smc_addr: Address }
  /** 32 bytes. */
  | { readonly kind: 'dns_storage_address'; readonly bag_id: Uint8Array }
  /** Another record, or a malformed one. */
  | { readonly kind: 'unknown'; readonly cell: Cell };

export interface DnsEntry {
  /** 32 bytes: sha256 of the name of the category, such as `wallet`. */
  readonly category: Uint8Array;
  readonly record: DnsRecord;
}

/** The records of a name. */
export interface DnsRecords {
  /** The last resolver of the chain. */
  readonly resolver: Address;
  /** The part of the name that the last resolver resolves: `ton.`; `.` is the resolver itself. */
  readonly name: string;
  /** Sorted by category as a number. */
  readonly entries: readonly DnsEntry[];
}

/** Names of the known categories; of others only the hash is known. */
const DNS_CATEGORIES = ['dns_next_resolver', 'wallet', 'site', 'storage'] as const;
export type DnsCategory = (typeof DNS_CATEGORIES)[number];

const NAMES: ReadonlyMap<string, DnsCategory> = new Map(DNS_CATEGORIES.map((name) => [toHex(sha256KeyOf(name)), name]));

/** The name of a category; null if it is unknown. */
export function dnsCategoryName(category: Uint8Array): DnsCategory | null {
  return NAMES.get(toHex(category)) ?? null;
}

/** The category of the next resolver. */
export const NEXT_RESOLVER_CATEGORY: Uint8Array = sha256KeyOf('dns_next_resolver');

const TAG = { text: 0x1eda, nextResolver: 0xba93, adnlAddress: 0xad01, smcAddress: 0x9fd3, storageAddress: 0x7473 };

/** Maximal number of cells visited for the records of a domain. */
const MAX_VISITS = 4_096;

/**
 * All records of a domain: `HashmapE 256 ^DNSRecord`. Entries without a reference are skipped.
 * @throws cells/* if it is no dictionary, cells/dict-too-large
 */
export function readDnsEntries(root: Cell | null): DnsEntry[] {
  const entries: DnsEntry[] = [];
  forEachEntry(
    root,
    256,
    (category, value) => {
      if (value.remainingRefs > 0) entries.push({ category, record: readDnsRecord(value.loadRef()) });
    },
    { limit: MAX_VISITS },
  );
  return entries;
}

/** A record. What follows its address is ignored: many are written without the flags of the schema. */
export function readDnsRecord(cell: Cell): DnsRecord {
  try {
    return readKnown(openCell(cell)) ?? { kind: 'unknown', cell };
  } catch (error) {
    if (isTernError(error)) return { kind: 'unknown', cell };
    throw error;
  }
}

function readKnown(slice: Slice): DnsRecord | null {
  switch (slice.loadUint(16)) {
    case TAG.text:
      return { kind: 'dns_text', text: readText(slice) };
    case TAG.nextResolver: {
      const resolver = accountOf(MsgAddressInt.load(slice));
      return resolver === null ? null : { kind: 'dns_next_resolver', resolver };
    }
    case TAG.adnlAddress:
      return { kind: 'dns_adnl_address', adnl_addr: slice.loadBytes(32) };
    case TAG.smcAddress: {
      const smc_addr = accountOf(MsgAddressInt.load(slice));
      return smc_addr === null ? null : { kind: 'dns_smc_address', smc_addr };
    }
    case TAG.storageAddress:
      return { kind: 'dns_storage_address', bag_id: slice.loadBytes(32) };
    default:
      return null;
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * ```
 * text$_ chunks:(## 8) rest:(TextChunks chunks) = Text;
 * text_chunk$_ {n:#} len:(## 8) data:(bits (len * 8)) next:(TextChunkRef n) = TextChunks (n + 1);
 * chunk_ref$_ {n:#} ref:^(TextChunks (n + 1)) = TextChunkRef (n + 1);
 * ```
 */
function readText(from: Slice): string {
  let slice = from;
  const parts: Uint8Array[] = [];
  for (let left = slice.loadUint(8); left > 0; left--) {
    parts.push(slice.loadBytes(slice.loadUint(8)));
    if (left > 1) slice = openCell(slice.loadRef());
  }
  return utf8.decode(concatBytes(...parts));
}

/** Result of `dnsresolve`: how much of the name was resolved, and the records. */
export interface DnsAnswer {
  /** Bytes of the name. */
  readonly taken: number;
  /** The record of the next resolver if the name was resolved in part; else the dictionary of all records. Null: nothing found. */
  readonly value: Cell | null;
}

/**
 * `(int bits, cell value) dnsresolve(slice subdomain, int category)` (TEP-81)
 * @param length bytes of the requested name
 * @throws contract-data/method-result if it has another form, or resolved more than the name
 */
export function dnsAnswerOf(stack: VmStack, length: number): DnsAnswer {
  const result = new MethodResult('dnsresolve', stack, 2);
  const bits = result.int();
  const value = result.cellOrNull();
  if (bits < 0n || bits > length * 8 || (bits & 7n) !== 0n) {
    const problem = `claims to have resolved ${bits} of ${length * 8} bits`;
    throw contractDataErrors['method-result']({ method: 'dnsresolve', problem });
  }
  return { taken: Number(bits) / 8, value };
}

/** Maximal size of an encoded name in bytes, without the leading zero byte. */
export const MAX_DOMAIN_NAME = 126;

const nameEncoder = new TextEncoder();
const nameDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Encodes a domain name for resolvers (TEP-81): a zero byte, then the zero-terminated labels from the last to the first:
 * `alice.ton` is `\0ton\0alice\0`. The empty name, or `.`, is `\0`: the resolver itself. Letters become lower-case; a trailing
 * dot is ignored.
 *
 * @throws contract-data/domain-name for empty labels, bytes 0 to 32, and more than 126 bytes
 */
export function encodeDomainName(name: string): Uint8Array {
  const trimmed = name.endsWith('.') ? name.slice(0, -1) : name;
  if (trimmed === '') return new Uint8Array(1);
  const labels = trimmed.toLowerCase().split('.');
  if (labels.includes('')) throw refuseName(name, 'a label is empty');
  const text = `${labels.reverse().join('\0')}\0`;
  if (/[\0-\x20]/.test(trimmed)) throw refuseName(name, 'it has a space or control character');
  const bytes = nameEncoder.encode(`\0${text}`);
  if (bytes.length > MAX_DOMAIN_NAME + 1) throw refuseName(name, `it takes ${bytes.length - 1} bytes`);
  return bytes;
}

/** Decodes that form to a name with a trailing dot: `alice.ton.`; `.` without labels. */
export function decodeDomainName(bytes: Uint8Array): string {
  const labels = nameDecoder
    .decode(bytes)
    .split('\0')
    .filter((label) => label !== '');
  return labels.length === 0 ? '.' : `${labels.reverse().join('.')}.`;
}

function refuseName(name: string, problem: string): Error {
  const shown = name.length > 150 ? `${name.slice(0, 150)}…` : name;
  return contractDataErrors['domain-name']({ name: shown, problem });
}
