import type { Access } from '#services/access/access.js';

const ALLOWED = { kind: 'allowed', plan: 'open', key: null, group: null } as const;

/** Mode `open`: everybody may ask, with or without a key; only the limits that keep the server safe hold, and they are not here. */
export const openAccess: Access = { ask: () => ALLOWED };
