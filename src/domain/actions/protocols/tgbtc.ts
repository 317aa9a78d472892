import { actionType, addressField, amountField, hexField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
  type MatchContext,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import { BURN_NOTIFICATION, jettonBurn, jettonMint, oldJettonMint } from '#domain/actions/protocols/jettons.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* tgBTC: a jetton that stands for bitcoins. A "teleport" contract mints it, and burns it through "pegout" contracts. */

const MINT_REQUEST = 0x3f781d24;
const MINT_CONFIRMED = 0xe42a879b;
const OLD_BURN_NOTIFICATION = 0x587643a2;
const PEGOUT_CREATED = 0xbe44e7a6;
const PEGOUT_STARTED = 0x1a84c0e0;
const NEW_KEY = 0x690f357a;

const MintEvent = layout('mint_event#77a80ef3 amount:Coins recipient_address:MsgAddress bitcoin_txid:bits256');
const BurnEvent = layout('burn_event#ca444ce6 amount:Coins sender_address:MsgAddress pegout_address:MsgAddress');
const NewKeyEvent = layout('new_key_event#27756729 amount:Coins new_internal_pubkey:bits256 pegout_address:MsgAddress');
const KeyGeneratedEvent = layout('dkg_completed_event#453443a6 timestamp:uint64 internal_pubkey:bits256');

const leavesChain = { 'it is an event': ({ isEvent }: ActionBlock) => isEvent };

const mint = {
  source: addressField('Who asked for it.', 'source'),
  destination: addressField('Who received the jettons.', 'destination'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  asset: addressField('Jetton master.', 'asset'),
  bitcoin_tx_id: hexField('The transaction of Bitcoin that paid for it.'),
  destination_wallet: addressField('Wallet of the receiver.', 'destination_secondary'),
};
export const tgbtcMintType = actionType('tgbtc_mint', 'tgBTC was minted for bitcoins.', mint);
export const tgbtcMintFallbackType = actionType(
  'tgbtc_mint_fallback',
  'A contract reported that tgBTC was minted.',
  mint,
);

/** Messages between the request and its confirmation. */
const MAX_STEPS = 20;

/** The blocks from the request to the one before the confirmation. */
function requestOf(confirmed: ActionBlock, context: MatchContext): readonly ActionBlock[] {
  const passed: ActionBlock[] = [];
  for (let block = confirmed.previous; block !== null && passed.length < MAX_STEPS; block = block.previous) {
    context.spend();
    passed.push(block);
    if (block.opcode === MINT_REQUEST) return passed;
  }
  return context.refuse('it does not follow from a request');
}

export const tgbtcMint = pattern(
  'tgbtc_mint',
  callOf(MINT_CONFIRMED, {
    next: { event: call(MintEvent, { where: leavesChain }), minted: recognised([jettonMint, oldJettonMint]) },
  }),
  ({ block, event, minted }, context) => {
    const passed = requestOf(block, context);
    const details = {
      source: passed.at(-1)!.source,
      destination: minted.data.receiver,
      amount: minted.data.amount,
      asset: minted.data.asset,
      bitcoin_tx_id: event.data.bitcoin_txid.toReversed(),
      destination_wallet: minted.data.receiver_wallet,
    };
    return meaning(tgbtcMintType, details, { failed: minted.block.failed, also: passed, parties: [block.destination] });
  },
);

export const tgbtcMintFallback = pattern(
  'tgbtc_mint_fallback',
  call(MintEvent, { where: leavesChain }),
  ({ block, data }) => {
    const details = {
      destination: data.recipient_address,
      amount: data.amount,
      bitcoin_tx_id: data.bitcoin_txid.toReversed(),
    };
    return meaning(tgbtcMintFallbackType, details, { parties: [block.source] });
  },
);

const burn = {
  source: addressField('Who burnt the jettons.', 'source'),
  source_wallet: addressField('The wallet that held them.', 'source_secondary'),
  destination: addressField('Contract that pays the bitcoins.', 'destination'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  asset: addressField('Jetton master.', 'asset'),
};
export const tgbtcBurnType = actionType('tgbtc_burn', 'tgBTC was burnt for bitcoins.', burn);
export const tgbtcBurnFallbackType = actionType(
  'tgbtc_burn_fallback',
  'A contract reported that tgBTC was burnt.',
  burn,
);

const reported = {
  next: {
    event: call(BurnEvent, { where: leavesChain }),
    pegout: optionally(callOf(PEGOUT_CREATED, { next: { started: optionally(callOf(PEGOUT_STARTED)) } })),
  },
} as const;

export const tgbtcBurn = pattern(
  'tgbtc_burn',
  recognised(jettonBurn, {
    next: { notice: anyOf(callOf(BURN_NOTIFICATION, reported), callOf(OLD_BURN_NOTIFICATION, reported)) },
  }),
  ({ block, data, notice }) => {
    const { event } = notice;
    const details = {
      source: data.owner,
      source_wallet: data.wallet,
      destination: event.data.pegout_address,
      amount: event.data.amount < data.amount ? event.data.amount : data.amount,
      asset: data.asset,
    };
    return meaning(tgbtcBurnType, details, { failed: block.failed });
  },
);

export const tgbtcBurnFallback = pattern(
  'tgbtc_burn_fallback',
  call(BurnEvent, { where: leavesChain }),
  ({ block, data }) => {
    const details = { source: data.sender_address, destination: data.pegout_address, amount: data.amount };
    return meaning(tgbtcBurnFallbackType, details, { parties: [block.source] });
  },
);

const newKey = {
  source: addressField('The teleport contract.', 'source'),
  pubkey: hexField('The public key.'),
  coordinator: addressField('The coordinator.', 'destination'),
  pegout: addressField('Contract that moves the bitcoins to the new key.', 'destination_secondary'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  asset: addressField('Jetton master.', 'asset'),
};
export const tgbtcNewKeyType = actionType('tgbtc_new_key', 'The validators of tgBTC made a new key.', newKey);
export const tgbtcNewKeyFallbackType = actionType(
  'tgbtc_new_key_fallback',
  'A contract reported a new key of tgBTC.',
  newKey,
);

export const tgbtcNewKey = pattern(
  'tgbtc_new_key',
  callOf(NEW_KEY, { next: { event: call(NewKeyEvent, { where: leavesChain }) } }),
  ({ block, event }, context) => {
    const generated =
      block.previous === null ? null : context.after(block.previous, call(KeyGeneratedEvent, { where: leavesChain }));
    if (generated === null) return context.refuse('the sender reported no key');
    const details = {
      source: block.source,
      pubkey: event.data.new_internal_pubkey,
      coordinator: block.destination,
      pegout: event.data.pegout_address,
      amount: event.data.amount,
    };
    return meaning(tgbtcNewKeyType, details, { failed: block.failed, also: [generated.block] });
  },
);

export const tgbtcNewKeyFallback = pattern(
  'tgbtc_new_key_fallback',
  call(NewKeyEvent, { where: leavesChain }),
  ({ block, data }) => {
    const details = {
      pubkey: data.new_internal_pubkey,
      coordinator: block.source,
      pegout: data.pegout_address,
      amount: data.amount,
    };
    return meaning(tgbtcNewKeyFallbackType, details, { parties: [block.source] });
  },
);

export const tgbtcKeyGeneratedType = actionType(
  'tgbtc_dkg_log_fallback',
  'A contract reported a generated key of tgBTC.',
  {
    coordinator: addressField('The coordinator.', 'source'),
    pubkey: hexField('The public key.'),
    timestamp: amountField('Unix time in seconds.', 'value'),
  },
);

export const tgbtcKeyGenerated = pattern(
  'tgbtc_dkg_log_fallback',
  call(KeyGeneratedEvent, { where: leavesChain }),
  ({ block, data }) => {
    const details = { coordinator: block.source, pubkey: data.internal_pubkey, timestamp: data.timestamp };
    return meaning(tgbtcKeyGeneratedType, details);
  },
);
