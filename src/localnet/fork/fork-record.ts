import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { fromHex, toHex } from '#kernel/bytes/bytes.js';
import { forkErrors } from '#localnet/fork/errors.js';

/** What a local chain is a fork of: fixed when it begins. */
export interface ForkRecord {
  /** As it was named; paths are absolute. */
  readonly source: string;
  /** The masterchain's zerostate of the forked network, which names it. */
  readonly zero_state: BlockId;
  /** The masterchain block from which on the chain is local. */
  readonly block: BlockId;
}

const FORMAT = 1;

/** @returns null when there is no such file @throws fork/bad-record */
export function readForkRecord(file: string): ForkRecord | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw forkErrors['bad-record']({ file, problem: message }, error);
  }
  const record = parseRecord(text);
  if (record === null) throw forkErrors['bad-record']({ file, problem: 'it is of another form' });
  return record;
}

/** Writes the file whole or not at all. @throws fork/bad-record */
export function writeForkRecord(file: string, { source, zero_state, block }: ForkRecord): void {
  const record = { format: FORMAT, source, zero_state: jsonOf(zero_state), block: jsonOf(block) };
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, { flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw forkErrors['bad-record']({ file, problem: (error as Error).message }, error);
  }
}

function jsonOf({ seqno, root_hash, file_hash }: BlockId) {
  return { seqno, root_hash: toHex(root_hash), file_hash: toHex(file_hash) };
}

function parseRecord(text: string): ForkRecord | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const { format, source, zero_state, block } = fieldsOf(json);
  if (format !== FORMAT || typeof source !== 'string') return null;
  const [zerostate, start] = [parseBlock(zero_state), parseBlock(block)];
  if (zerostate === null || start === null || zerostate.seqno !== 0 || start.seqno === 0) return null;
  return { source, zero_state: zerostate, block: start };
}

function parseBlock(json: unknown): BlockId | null {
  const { seqno, root_hash, file_hash } = fieldsOf(json);
  const [root, file] = [hashOf(root_hash), hashOf(file_hash)];
  if (!Number.isInteger(seqno) || (seqno as number) < 0 || (seqno as number) > 0xffff_ffff) return null;
  return root === null || file === null
    ? null
    : { ...MASTERCHAIN_SHARD, seqno: seqno as number, root_hash: root, file_hash: file };
}

function hashOf(value: unknown): Uint8Array | null {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? fromHex(value) : null;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
