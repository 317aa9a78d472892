import type { ApiSettings } from '#app/config/api-settings.js';
import type { Surroundings } from '#app/service/surroundings.js';
import type { Access } from '#services/access/access.js';
import type { AccessMetrics } from '#services/access/metrics.js';
import { openAccess } from '#services/access/open-access.js';
import { plansIn, startKeyedAccess } from '#services/access/start-keyed-access.js';

/** Who may ask, as the settings say. */
export interface ServiceAccess {
  readonly access: Access;
  /** `null` where everybody may. */
  readonly metrics: (() => AccessMetrics) | null;
  close(): Promise<void>;
}

/**
 * Begins to let requests in.
 * @param groups the private groups of liteservers that there are
 * @throws access/*
 */
export async function startAccess(
  { access, data: folder, plans: file, redisUrl }: ApiSettings,
  groups: readonly string[],
  modules: Surroundings,
): Promise<ServiceAccess> {
  if (access === 'open') return { access: openAccess, metrics: null, close: async () => {} };
  const plans = plansIn(folder, file);
  for (const name of plans.names) {
    const group = plans.find(name)?.group ?? null;
    if (group === null || groups.includes(group)) continue;
    const message = 'a plan opens a group of liteservers that is not there; its keys have those of everybody';
    modules.logger.warn(message, { plan: name, group });
  }
  const started = await startKeyedAccess({ folder, plans: file, redisUrl }, modules);
  return { access: started.access, metrics: () => started.metrics(), close: () => started.close() };
}
