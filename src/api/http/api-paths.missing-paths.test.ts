import { describe, expect, it } from 'vitest';
import { missingPath } from '#api/http/api-paths.js';
import { httpErrors } from '#api/http/errors.js';

const missing = { '/api/v3/later': 'use /api/v3/now', '/api/soon/': 'wait' };

describe('a path that live services have and this one not yet', () => {
  it.each([
    ['/api/v3/later', 'use /api/v3/now'],
    ['/api/v3/LATER', 'use /api/v3/now'],
    ['/toncenter/api/v3/later', 'use /api/v3/now'],
    ['/api/soon/one/of/many', 'wait'],
  ])('%s says what to do instead', (path, instead) => {
    const error = missingPath(path, missing);
    expect(error).toMatchObject({ code: httpErrors['not-implemented'].code });
    expect(error?.message).toContain(instead);
  });

  it.each(['/api/v3/laters', '/api/v3/later/on', '/api/v3', '/api/soon'])('%s is none', (path) => {
    expect(missingPath(path, missing)).toBeNull();
  });
});
