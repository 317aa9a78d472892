import type { TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/**
 * What is wrong with a value by the schema of an answer, in which every member must be declared: paths and messages, none when
 * all is well.
 */
export function shapeProblems(schema: TSchema, value: unknown): string[] {
  const checker = TypeCompiler.Compile(strict(schema) as TSchema);
  return [...checker.Errors(value)].map(({ path, message }) => `${path}: ${message}`);
}

/** Objects with members of a schema have no others. Kinds of types are symbols, which are kept. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Record<PropertyKey, unknown> = {};
  for (const key of Reflect.ownKeys(schema)) copy[key] = strict((schema as Record<PropertyKey, unknown>)[key]);
  const { type, properties, additionalProperties } = copy;
  if (type === 'object' && properties !== undefined && additionalProperties === undefined) {
    copy.additionalProperties = false;
  }
  return copy;
}
