import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';

/** How long sessions of validators last, in seconds. */
export interface SessionLifetimes {
  readonly mc_catchain_lifetime: number;
  readonly shard_catchain_lifetime: number;
}

/** What nodes assume when there is no parameter 28. */
const DEFAULT_LIFETIMES: SessionLifetimes = { mc_catchain_lifetime: 200, shard_catchain_lifetime: 200 };

/** The lifetimes of parameter 28. @throws cells/*, tlb/* */
export function sessionLifetimes(config: ConfigDictionary): SessionLifetimes {
  return configParam(config, 28) ?? DEFAULT_LIFETIMES;
}

/** Whether a multiple of `lifetime` lies between two times: then a session ends. */
export function passesMultiple(lifetime: number, before: number, now: number): boolean {
  return Math.floor(now / lifetime) > Math.floor(before / lifetime);
}
