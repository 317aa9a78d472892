import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { Block } from '#formats/tlb/block.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configDictionary } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { TlReader } from '#test/support/tl-reader.js';
import { parseChainName, readBytes, readChain } from '#test/support/vector-files.js';

/** A configuration of the collection; of one in a proof, parts may be pruned. */
export interface NamedConfiguration {
  readonly name: string;
  readonly config: ConfigDictionary;
}

/** The configuration in a block, `null` when it is no key block or a proof that leaves it out. */
function inBlock(root: Cell): ConfigDictionary | null {
  const extra = decodeCell(Block, root).extra;
  if (extra.cell.type === CellType.prunedBranch) return null;
  const custom = extra.value.custom;
  if (custom === null || custom.cell.type === CellType.prunedBranch) return null;
  return custom.value.config?.config ?? null;
}

function inState(root: Cell): ConfigDictionary | null {
  return decodeCell(ShardStateUnsplit, root).custom?.value.config.config ?? null;
}

/** Configurations in the zerostates, key blocks and proofs of key blocks of a folder with archive packs. */
export function* chainConfigurations(directory: string): Generator<NamedConfiguration> {
  for (const name of readdirSync(directory).sort()) {
    if (!/^zerostate.*\.boc$/.test(name)) continue;
    const config = inState(parseBocRoot(readBytes(join(directory, name))));
    if (config !== null) yield { name, config };
  }
  for (const { name, data } of readChain(directory)) {
    const kind = parseChainName(name)?.kind;
    const root = parseBocRoot(data);
    const config = kind === 'block' ? inBlock(root) : inBlock(openMerkleProof(decodeCell(BlockProof, root).root));
    if (config !== null) yield { name, config };
  }
}

/** Configurations in single files of blocks and of proofs of blocks. */
export function* blockConfigurations(directory: string): Generator<NamedConfiguration> {
  for (const name of readdirSync(directory).sort()) {
    if (name.endsWith('.json')) continue;
    const root = parseBocRoot(readBytes(join(directory, name)));
    const config = name.includes('proof') ? inBlock(openMerkleProof(decodeCell(BlockProof, root).root)) : inBlock(root);
    if (config !== null) yield { name, config };
  }
}

/**
 * Configurations in proofs of states, `*.boc`, and in a server's answer, `*.bin`:
 * `liteServer.configInfo#ae7b272f mode:# id:tonNode.blockIdExt state_proof:bytes config_proof:bytes`.
 */
export function* proofConfigurations(directory: string): Generator<NamedConfiguration> {
  for (const name of readdirSync(directory).sort()) {
    let proof: Uint8Array | null = null;
    if (name.endsWith('.boc')) proof = readBytes(join(directory, name));
    if (name.endsWith('.bin')) {
      const tl = new TlReader(readBytes(join(directory, name)));
      if (tl.word() !== 0xae7b272f) continue;
      tl.word();
      tl.blockId();
      tl.bytes();
      proof = tl.bytes();
    }
    if (proof === null) continue;
    const config = inState(openMerkleProof(parseBocRoot(proof)));
    if (config !== null) yield { name, config };
  }
}

/** Whole configurations, as base64 in a JSON object. */
export function* wholeConfigurations(file: string): Generator<NamedConfiguration> {
  for (const [name, boc] of Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)) {
    yield { name, config: configDictionary(parseBocRoot(new Uint8Array(Buffer.from(boc, 'base64')))) };
  }
}
