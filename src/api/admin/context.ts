import { endpointOf } from '#api/http/endpoint.js';
import type { AccessAdministration } from '#services/access/start-keyed-access.js';

/** The context of a method during one request. */
export interface AdminContext {
  readonly access: AccessAdministration;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
}

export const adminEndpoint = endpointOf<AdminContext>();
