import type { AddressReads } from '#drivers/store/read/address-facts.js';
import type { DnsReads } from '#drivers/store/read/dns-reads.js';
import type { IndexReads } from '#drivers/store/read/index-reads.js';
import type { TokenReads } from '#drivers/store/read/indexed-tokens.js';
import type { MultisigReads } from '#drivers/store/read/multisig-reads.js';
import type { TokenEventReads } from '#drivers/store/read/token-events.js';
import type { VestingReads } from '#drivers/store/read/vesting-reads.js';

/** All reads of the index. */
export interface IndexPort
  extends IndexReads,
    AddressReads,
    TokenEventReads,
    DnsReads,
    MultisigReads,
    TokenReads,
    VestingReads {}
