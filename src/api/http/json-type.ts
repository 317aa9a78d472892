/** `Content-Type` of all JSON answers. */
export const JSON_TYPE = 'application/json; charset=utf-8';
