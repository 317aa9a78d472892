import { actionType, addressField, amountField, optionalField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { callOf, meaning, optionally, pattern } from '#domain/actions/pattern.js';
import { Address } from '#formats/address/address.js';

/* Stakes of validators at the elector. */

const NEW_STAKE = 0x4e73744b;
const STAKE_ACCEPTED = 0xf374484c;
const RECOVER_STAKE = 0x47657424;
const STAKE_RETURNED = 0xf96f7324;

const ELECTOR = Address.ofParts(-1, new Uint8Array(32).fill(0x33));

const toElector = { 'it is sent to the elector': (block: ActionBlock) => block.destination?.equals(ELECTOR) ?? false };

export const electionDepositType = actionType('election_deposit', 'A validator sent a stake for an election.', {
  stake_holder: addressField('The validator.', 'source'),
  amount: optionalField(amountField('Nanotons.', 'amount')),
});

export const electionDeposit = pattern(
  'election_deposit',
  callOf(NEW_STAKE, { where: toElector, next: { reply: optionally(callOf(STAKE_ACCEPTED)) } }),
  ({ block, reply }) => {
    const details = { stake_holder: block.source, amount: block.value };
    return meaning(electionDepositType, details, { failed: block.failed || reply === null });
  },
);

export const electionRecoverType = actionType('election_recover', 'A validator took back a stake.', {
  stake_holder: addressField('The validator.', 'source'),
  amount: optionalField(amountField('Nanotons that were returned.', 'amount')),
});

export const electionRecover = pattern(
  'election_recover',
  callOf(RECOVER_STAKE, { where: toElector, next: { reply: optionally(callOf(STAKE_RETURNED)) } }),
  ({ block, reply }) => {
    const details = { stake_holder: block.source, amount: reply?.block.value };
    return meaning(electionRecoverType, details, { failed: block.failed || reply === null });
  },
);
