import { metadataErrors } from '#services/metadata/errors.js';

/** JSON by any of its names, text of any kind, and what servers say that do not know. */
const READABLE =
  /^(application\/([\w.-]+\+)?json|text\/[\w.+-]+|(application|binary)\/octet-stream|application\/(javascript|x-javascript))$/;

/**
 * That a document may be JSON, by what is said of its type; nothing said is well, too. Whether it is, its bytes tell.
 *
 * @throws metadata/content-type
 */
export function requireReadableType(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== '' && !READABLE.test(type))
    throw metadataErrors['content-type']({ found: JSON.stringify(type.slice(0, 100)) });
}
