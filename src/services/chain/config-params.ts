import type { Cell } from '#formats/cells/cell.js';
import { stateConfig, verifyConfig } from '#formats/proofs/config.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerConfigInfo } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetConfigAll, LiteServerGetConfigParams } from '#formats/tl/generated/lite-server-functions.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfState } from '#services/chain/need.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** Parameters of the configuration after a masterchain block. */
export interface ConfigParamsRead extends Answered<LiteServerConfigInfo> {
  /** Whole cells; a parameter that is not there is proven not to be in the configuration. */
  readonly params: ReadonlyMap<number, Cell>;
}

/** The whole configuration after a masterchain block. */
export interface ConfigRead extends ConfigParamsRead {
  /** The root of the dictionary, whole. */
  readonly root: Cell;
}

/** Most parameters in one question. */
const MAX_PARAMS = 256;

/** Reads of the configuration. */
export class Config {
  readonly #blockIds: BlockIds;

  constructor(blockIds: BlockIds) {
    this.#blockIds = blockIds;
  }

  async params(call: Call, numbers: readonly number[], { at }: ReadAt): Promise<ConfigParamsRead> {
    const wanted = [...new Set(numbers)];
    if (wanted.length === 0 || wanted.length > MAX_PARAMS) {
      const value = `a list of ${wanted.length}`;
      throw chainErrors.parameter({ name: 'params', value, wanted: `1 to ${MAX_PARAMS} numbers` });
    }
    for (const number of wanted) {
      if ((number | 0) !== number)
        throw chainErrors.parameter({ name: 'param', value: String(number), wanted: 'an int32' });
    }
    const block = await this.#blockIds.resolveMasterchain(call, at);
    const { id } = block;
    const { value, answer } = await call.ask({
      fn: LiteServerGetConfigParams,
      query: { mode: 0, id: blockIdToTl(id), param_list: wanted },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'config params',
      verify: (found) => {
        expectBlock(found.id, id);
        const { config } = stateConfig(verifyConfig(id, found.state_proof, found.config_proof));
        return inPart('config_proof', () => {
          const params = new Map<number, Cell>();
          for (const number of wanted) {
            const cell = config.get(number);
            if (cell !== undefined) params.set(number, whole(cell, `parameter ${number}`));
          }
          return params;
        });
      },
    });
    return { block: id, gen_utime: block.gen_utime, params: value, proof: call.proof(answer) };
  }

  async all(call: Call, { at }: ReadAt): Promise<ConfigRead> {
    const block = await this.#blockIds.resolveMasterchain(call, at);
    const { id } = block;
    const { value, answer } = await call.ask({
      fn: LiteServerGetConfigAll,
      query: { mode: 0, id: blockIdToTl(id) },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'config',
      verify: (found) => {
        expectBlock(found.id, id);
        const { config } = stateConfig(verifyConfig(id, found.state_proof, found.config_proof));
        return inPart('config_proof', () => {
          const root = whole(config.root!, 'the configuration');
          return { root, params: new Map(config) };
        });
      },
    });
    return { block: id, gen_utime: block.gen_utime, ...value, proof: call.proof(answer) };
  }
}

/** Refuses cells of a proof that have something left out. @throws chain/incomplete-answer */
function whole(cell: Cell, name: string): Cell {
  if (cell.levelMask === 0) return cell;
  throw chainErrors['incomplete-answer']({ problem: `${name} (${toHex(cell.hash(0))}) has pruned parts` });
}
