import { DNS_ROOTS, type DnsRoot } from '#domain/contracts/dns-domain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ContractService } from '#services/emulation/contract-service.js';
import type { TraceEmulation } from '#services/emulation/emulated-trace.js';
import type { TraceMeanings } from '#services/emulation/trace-meaning.js';
import { ContractTraceMeanings } from '#services/emulation/trace-meanings.js';

/** Emulates traces and understands them. */
export type NetworkEmulation = TraceEmulation & TraceMeanings;

/** @param dnsRoots DNS collections besides the well-known ones */
export function networkEmulation(
  { chain, contracts }: { readonly chain: Pick<ChainReads, 'account'>; readonly contracts: ContractService },
  dnsRoots: readonly DnsRoot[],
): NetworkEmulation {
  const meanings = new ContractTraceMeanings(
    { dnsRoots: [...DNS_ROOTS, ...dnsRoots] },
    {
      account: (address, options) => chain.account(address, options),
      contractsWith: (states, options) => contracts.contractsWith(states, options),
    },
  );
  return {
    emulateTrace: (request, options) => contracts.emulateTrace(request, options),
    meaningOf: (trace, options) => meanings.meaningOf(trace, options),
  };
}
