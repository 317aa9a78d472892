import { decodeDomainName } from '#domain/contracts/domain-name.js';
import { MethodResult } from '#domain/contracts/method-result.js';
import type { Address } from '#formats/address/address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';

/** The collections of `.ton` domains: of mainnet, and of the test network. */
const DOT_TON: ReadonlySet<string> = new Set([
  '0:b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf',
  '0:e33ed33a42eb2032059f97d90c706f8400bb256d32139ca707f1564ad699c7dd',
]);

/** Whether the items of a collection are `.ton` domains. */
export function isDotTonCollection(collection: Address | null): boolean {
  return collection !== null && DOT_TON.has(collection.toRaw());
}

/** `slice get_domain()` of `.ton` items: the bytes of the label. @throws contract-data/* */
export function labelOf(stack: VmStack): Uint8Array {
  return new MethodResult('get_domain', stack, 1).bytes();
}

/** `slice get_full_domain()` of names of Telegram: labels with a zero byte after each. @throws contract-data/* */
export function fullNameOf(stack: VmStack): Uint8Array {
  return new MethodResult('get_full_domain', stack, 1).bytes();
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** `alice` to `alice.ton` */
export function dotTonName(label: Uint8Array): string {
  return `${utf8.decode(label)}.ton`;
}

/** The name that a domain outside of `.ton` gives itself. Empty when it claims to be in `.ton`, where it is not. */
export function ownName(bytes: Uint8Array): string {
  const name = decodeDomainName(bytes).slice(0, -1);
  return name === 'ton' || name.toLowerCase().endsWith('.ton') ? '' : name;
}
