import type { KnownWallet, LocalNetwork } from '../localnet/local-network.js';

/** Packages are loaded at run time, from the folder that they are installed to. */
// biome-ignore lint/suspicious/noExplicitAny: their types are not installed here
export type Loaded = any;

/** What `/localnet/seed` made. */
interface SeededItem {
  readonly kind: string;
  readonly name: string;
  readonly address: string;
}

/** A seeded local network, and the packages that read from it. */
export interface SdkStage {
  readonly network: LocalNetwork;
  readonly load: (name: string) => Loaded;
  /** `TonClient` of @ton/ton. */
  readonly client: Loaded;
  readonly wallets: readonly KnownWallet[];
  readonly seeded: readonly SeededItem[];
}

/** The address of something that was seeded. */
export function seededAddress({ seeded }: SdkStage, kind: string): string {
  return seeded.find((item) => item.kind === kind)!.address;
}

const POLL_MS = 50;
const PATIENCE_MS = 20_000;

/** Waits until something is so. @throws after a time, with what was waited for */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`after ${PATIENCE_MS / 1000} s still not there: ${what}`);
}
