/** `metadata` of an answer as JSON. Only tokens have any, and tokens are not indexed. */
export function metadataText(): string {
  return '{}';
}
