import type { AddressReads } from '#drivers/store/read/address-facts.js';
import type { IndexReads } from '#drivers/store/read/index-reads.js';

/** All reads of the index. */
export interface IndexPort extends IndexReads, AddressReads {}
