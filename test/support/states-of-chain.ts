import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { type BlockLink, blockLinks, ChainStates } from '#test/support/chain-states.js';
import { readBytes, readChain } from '#test/support/vector-files.js';

/** File names of the zerostates of masterchain and basechain in a folder with archive packs. */
export interface Zerostates {
  readonly masterchain: string;
  readonly basechain: string;
}

export const MAINNET_ZEROSTATES: Zerostates = {
  masterchain: 'zerostate_mc_5E994FCF.boc',
  basechain: 'zerostate_wc0_EE0BEDFE.boc',
};
export const RECORDED_ZEROSTATES: Zerostates = {
  masterchain: 'zerostate-mc.boc',
  basechain: 'zerostate-basechain.boc',
};

/** The state after a block, whole. */
export interface StateAfter {
  readonly name: string;
  readonly link: BlockLink;
  /** Whether it is the last block of its workchain. */
  readonly last: boolean;
  readonly root: Cell;
}

/** The states after all blocks of both chains, made by applying the update of each block to the state before it. */
export function* statesOfChain(directory: string, zerostates: Zerostates): Generator<StateAfter> {
  const states = new ChainStates();
  states.addZerostate(parseBocRoot(readBytes(`${directory}/${zerostates.masterchain}`)), -1);
  states.addZerostate(parseBocRoot(readBytes(`${directory}/${zerostates.basechain}`)), 0);
  const links = blockLinks(readChain(directory));
  for (const [i, link] of links.entries()) {
    const { workchain, shard, seqno } = link.id;
    const name = `the state after ${workchain},${shard},${seqno}`;
    const before = states.before(link);
    if (before === null) throw new TypeError(`${name}: a previous block is missing`);
    const root = applyMerkleUpdate(before, link.stateUpdate);
    states.addAfter(link, root);
    yield { name, link, last: links[i + 1]?.id.workchain !== workchain, root };
  }
}
