import type { BodyCursor } from '#domain/bodies/body-cursor.js';
import type { JsonObject } from '#domain/bodies/json-value.js';

/**
 * Reads one value of a type and puts it into `into[field]`; whether it was there and fits. When it was not, what has been
 * put anywhere is worthless, and so is the cursor.
 */
export type Reader = (from: BodyCursor, into: JsonObject, field: string) => boolean;
