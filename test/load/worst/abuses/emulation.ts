import { parseAddress } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64 } from '#kernel/bytes.js';
import { buildExternalInMessage } from '#localnet/wallets/create-transfer.js';
import type { Abuse, Attack } from './abuse.js';

/** Addresses without a key that ask one after the other, each once a second. */
const CLIENTS = 10;

function endlessContract(attack: Attack, number: number): string {
  return attack.facts.endless[number % attack.facts.endless.length]!;
}

/** One request a second from each of some addresses. */
function fromAddresses(
  name: string,
  what: string,
  callOf: (attack: Attack, number: number) => { readonly path: string; readonly body: string },
): Abuse {
  return {
    name,
    what: `${what}, once a second from each of ${CLIENTS} addresses`,
    run: (attack) =>
      attack.atRate(CLIENTS, (number) =>
        attack.ask(callOf(attack, number), { from: attack.address(number % CLIENTS) }),
      ),
  };
}

const oneEndless: Abuse = {
  name: 'endless-get-method-1',
  what: 'a get-method without an end, once a second, one contract, one address',
  run: (attack) =>
    attack.atRate(1, () =>
      attack.ask(
        {
          path: '/api/v2/runGetMethod',
          body: JSON.stringify({ address: attack.facts.endless[0], method: 'seqno', stack: [] }),
        },
        { from: attack.address(0) },
      ),
    ),
};

/** A body of a message with as many cells as fit into 64 KiB, all of them different. */
function largeBody(number: number): Cell {
  let cell = new Builder().storeUint(number, 32).endCell();
  for (let i = 0; i < 480; i++) {
    const builder = new Builder().storeRef(cell);
    for (let word = 0; word < 28; word++) builder.storeUint((number * 31 + i * 17 + word) >>> 0, 32);
    cell = builder.endCell();
  }
  return cell;
}

function externalMessage(to: string, body: Cell): string {
  return toBase64(serializeBoc(buildExternalInMessage({ to: parseAddress(to).address, body })));
}

/** A body of `sendBoc`. */
export function largeMessage(to: string, number: number): string {
  return JSON.stringify({ boc: externalMessage(to, largeBody(number)) });
}

/** A body of `estimateFee`. */
export function largeEstimate(address: string, number: number): string {
  return JSON.stringify({ address, body: toBase64(serializeBoc(largeBody(number))), ignore_chksig: true });
}

export const hostileEmulation: readonly Abuse[] = [
  oneEndless,
  fromAddresses('endless-get-method', 'get-methods without an end of 20 contracts', (attack, number) => ({
    path: '/api/v2/runGetMethod',
    body: JSON.stringify({ address: endlessContract(attack, number), method: 'seqno', stack: [['num', number]] }),
  })),
  fromAddresses('endless-get-method-v3', 'the same in API v3', (attack, number) => ({
    path: '/api/v3/runGetMethod',
    body: JSON.stringify({
      address: endlessContract(attack, number),
      method: `method${number}`,
      stack: [{ type: 'num', value: String(number) }],
    }),
  })),
  fromAddresses('endless-estimate-fee', 'estimateFee of a message to a contract without an end', (attack, number) => ({
    path: '/api/v2/estimateFee',
    body: JSON.stringify({
      address: endlessContract(attack, number),
      body: toBase64(serializeBoc(new Builder().storeUint(number, 32).endCell())),
      ignore_chksig: true,
    }),
  })),
  fromAddresses('endless-send-boc', 'sendBoc of a message to a contract without an end', (attack, number) => ({
    path: '/api/v2/sendBoc',
    body: JSON.stringify({
      boc: externalMessage(endlessContract(attack, number), new Builder().storeUint(number, 32).endCell()),
    }),
  })),
  fromAddresses('large-send-boc', 'sendBoc of messages of 60 kB that wallets refuse', (attack, number) => ({
    path: '/api/v2/sendBoc',
    body: largeMessage(attack.facts.wallets[0]!, number),
  })),
  fromAddresses('large-estimate-fee', 'estimateFee with bodies of 60 kB', (attack, number) => ({
    path: '/api/v3/estimateFee',
    body: largeEstimate(attack.facts.wallets[0]!, number),
  })),
  fromAddresses('endless-emulation', 'emulateTrace of a message to a contract without an end', (attack, number) => ({
    path: '/api/emulate/v1/emulateTrace',
    body: JSON.stringify({
      boc: externalMessage(endlessContract(attack, number), new Builder().storeUint(number, 32).endCell()),
      with_actions: true,
    }),
  })),
  fromAddresses(
    'large-emulation',
    'emulateTrace of a message that leads to 250 others, with all that it may tell',
    (attack, number) => ({
      path: '/api/emulate/v1/emulateTrace',
      body: JSON.stringify({
        boc: attack.facts.fans[number % attack.facts.fans.length],
        ...{ with_actions: true, include_code_data: true, include_address_book: true, include_metadata: true },
      }),
    }),
  ),
  fromAddresses('malformed-send-boc', 'sendBoc of what is no message', (_, number) => ({
    path: '/api/v2/sendBoc',
    body: JSON.stringify({ boc: toBase64(serializeBoc(largeBody(number))).slice(0, -40) }),
  })),
];
