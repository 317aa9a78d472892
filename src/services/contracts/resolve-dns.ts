import { dnsAnswerOf } from '#domain/contracts/dns-answer.js';
import {
  type DnsRecords,
  NEXT_RESOLVER_CATEGORY,
  readDnsEntries,
  readDnsRecord,
} from '#domain/contracts/dns-records.js';
import { decodeDomainName, encodeDomainName } from '#domain/contracts/domain-name.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { vmInt, vmSlice } from '#formats/tlb/vm-value.js';
import { concatBytes } from '#kernel/bytes/bytes.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type { TokenReads } from '#services/contracts/token-reads.js';

/** Asks for the records of all categories. */
const ALL_CATEGORIES = vmInt(0);

/**
 * Asks a resolver for a name (TEP-81), and, up to `depth` times, the next resolver that it names for the rest of the name.
 * Where no more may be asked, the answer is the next resolver. All of them are asked at one masterchain block.
 *
 * @throws contract-data/domain-name for a bad name; contract-data/method-failed when a resolver is not deployed or
 *   refuses, contract-data/method-result when it answers nonsense; what the reads throw
 */
export async function resolveDns(
  resolver: Address,
  name: string,
  depth: number,
  reads: Pick<TokenReads, 'runGetMethod'>,
  options: ReadAt,
): Promise<DnsRecords> {
  let asked = resolver;
  let rest = encodeDomainName(name);
  let at = options.at;
  for (let left = depth; ; left--) {
    const stack = [vmSlice(new Builder().storeBytes(rest).endCell()), ALL_CATEGORIES];
    const read = await reads.runGetMethod(asked, 'dnsresolve', stack, at === undefined ? options : { ...options, at });
    at = read.block;
    const { exit_code } = read;
    if (exit_code !== 0 && exit_code !== 1) {
      throw contractDataErrors['method-failed']({ address: asked.toRaw(), method: 'dnsresolve', exit_code });
    }
    const { taken, value } = dnsAnswerOf(read.stack, rest.length);
    if (taken === 0 || value === null) return { resolver: asked, name: decodeDomainName(rest), entries: [] };
    if (taken === rest.length) {
      return { resolver: asked, name: decodeDomainName(rest), entries: readDnsEntries(value) };
    }
    const record = readDnsRecord(value);
    if (left <= 0 || record.kind !== 'dns_next_resolver') {
      const part = decodeDomainName(rest.subarray(0, taken));
      return { resolver: asked, name: part, entries: [{ category: NEXT_RESOLVER_CATEGORY, record }] };
    }
    const after = afterPart(rest, taken);
    if (after.length >= rest.length) {
      const problem = 'names the next resolver without having taken a part of the name';
      throw contractDataErrors['method-result']({ method: 'dnsresolve', problem });
    }
    rest = after;
    asked = record.resolver;
  }
}

/** The rest of a name. Resolvers may take the zero byte after a label or leave it: the rest begins with one. */
function afterPart(name: Uint8Array, taken: number): Uint8Array {
  const rest = name.subarray(taken);
  return rest[0] === 0 ? rest : concatBytes(new Uint8Array(1), rest);
}
