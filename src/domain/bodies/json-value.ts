/** What bodies are decoded to: as JSON has it, and without arrays and numbers, which decoded bodies do not have. */
export type JsonValue = string | boolean | null | JsonObject;

/** Fields in the order of the schema. */
export interface JsonObject {
  [field: string]: JsonValue;
}
