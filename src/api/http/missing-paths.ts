import { httpErrors } from '#api/http/errors.js';
import { TONCENTER_MOUNT } from '#api/http/profile.js';
import type { TernError } from '#kernel/tern-error.js';

/** The error of a path that live services have and this one not yet; null: it is no such path. See `HttpModules.missingPaths`. */
export function missingPath(path: string, missing: Readonly<Record<string, string>>): TernError | null {
  const bare = path.startsWith(`${TONCENTER_MOUNT}/`) ? path.slice(TONCENTER_MOUNT.length) : path;
  const asked = bare.toLowerCase();
  for (const [known, instead] of Object.entries(missing)) {
    const isIt = known.endsWith('/') ? asked.startsWith(known.toLowerCase()) : asked === known.toLowerCase();
    if (isIt) return httpErrors['not-implemented']({ path: known, instead });
  }
  return null;
}
