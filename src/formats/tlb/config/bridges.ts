import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { bits256, grams, uint8 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

/** Addresses in the other chain by the oracle's public key; `uint256` in the schema, here 32 bytes. */
const oracles = hashmapE(bytesKey(32), bits256);

/** A bridge of TON coins to another chain: contracts in the masterchain, and the oracles that attest transfers. */
export const OracleBridgeParams = record(
  `oracle_bridge_params#_ bridge_address:bits256 oracle_mutlisig_address:bits256 oracles:(HashmapE 256 uint256)
    external_chain_address:bits256 = OracleBridgeParams;`,
  { bridge_address: bits256, oracle_mutlisig_address: bits256, oracles, external_chain_address: bits256 },
);
export type OracleBridgeParams = ValueOf<typeof OracleBridgeParams>;

/** What a token bridge charges and keeps back, in nanotons (`Coins` are `Grams`). */
export const JettonBridgePrices = record(
  `jetton_bridge_prices#_ bridge_burn_fee:Coins bridge_mint_fee:Coins
    wallet_min_tons_for_storage:Coins wallet_gas_consumption:Coins
    minter_min_tons_for_storage:Coins discover_gas_consumption:Coins = JettonBridgePrices;`,
  {
    bridge_burn_fee: grams,
    bridge_mint_fee: grams,
    wallet_min_tons_for_storage: grams,
    wallet_gas_consumption: grams,
    minter_min_tons_for_storage: grams,
    discover_gas_consumption: grams,
  },
);
export type JettonBridgePrices = ValueOf<typeof JettonBridgePrices>;

/** A bridge of tokens of another chain to TON; bits of `state_flags` switch parts of it off. */
export const JettonBridgeParams = union('JettonBridgeParams', [
  variant(
    `jetton_bridge_params_v0#00 bridge_address:bits256 oracles_address:bits256 oracles:(HashmapE 256 uint256)
      state_flags:uint8 burn_bridge_fee:Coins = JettonBridgeParams;`,
    { bridge_address: bits256, oracles_address: bits256, oracles, state_flags: uint8, burn_bridge_fee: grams },
  ),
  variant(
    `jetton_bridge_params_v1#01 bridge_address:bits256 oracles_address:bits256 oracles:(HashmapE 256 uint256)
      state_flags:uint8 prices:^JettonBridgePrices external_chain_address:bits256 = JettonBridgeParams;`,
    {
      bridge_address: bits256,
      oracles_address: bits256,
      oracles,
      state_flags: uint8,
      prices: ref(JettonBridgePrices),
      external_chain_address: bits256,
    },
  ),
]);
export type JettonBridgeParams = ValueOf<typeof JettonBridgeParams>;
