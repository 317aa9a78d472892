import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { NetworkReadiness } from '#api/http/health-routes.js';
import type { Readiness } from './answers.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
type Schemas = Readonly<Record<string, Schema>>;

const root = new URL('../../../', import.meta.url);

/** The schemas of a document, each parsed when it is read: the whole of one takes seconds. */
function schemasOf(api: string): Schemas {
  const text = readFileSync(new URL(`openapi/${api}.yaml`, root), 'utf8');
  const [, ...parts] = text.slice(text.indexOf('\n  schemas:\n')).split(/^ {4}(\w+):$/m);
  const texts = new Map<string, string>();
  for (let i = 0; i < parts.length; i += 2) texts.set(parts[i]!, parts[i + 1]!);
  return new Proxy({}, { get: (_, name: string) => parse(texts.get(name) ?? 'null') ?? undefined });
}

/** Types of `answers.ts` and the schemas that they are parts of. */
const DESCRIBED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v3: {
    ...{ AccountState: 'AccountStateFull', AccountStatesAnswer: 'AccountStatesResponse', Action: 'Action' },
    ...{ ActionPhase: 'ActionPhase', ActionsAnswer: 'ActionsResponse', Block: 'Block', BlockRef: 'BlockId' },
    ...{ BlocksAnswer: 'BlocksResponse', ComputePhase: 'ComputePhase', Message: 'Message' },
    ...{ MessageContent: 'MessageContent', StateFacts: 'AccountState', TokenInfo: 'TokenInfo', Trace: 'Trace' },
    ...{ TraceNode: 'TraceNode', TracesAnswer: 'TracesResponse', Transaction: 'Transaction' },
    ...{ TransactionDescription: 'TransactionDescr', TransactionsAnswer: 'TransactionsResponse' },
  },
  localnet: { LocalStatus: 'Status' },
};

const source = ts.createSourceFile(
  'answers.ts',
  readFileSync(new URL('./answers.ts', import.meta.url), 'utf8'),
  ts.ScriptTarget.Latest,
);
const interfaces = new Map(
  source.statements.filter(ts.isInterfaceDeclaration).map((declared) => [declared.name.text, declared] as const),
);

/** The kinds of JSON values that a type has; undefined: any. */
function kindsOf(type: ts.TypeNode): readonly string[] | undefined {
  if (ts.isUnionTypeNode(type)) return type.types.flatMap((each) => kindsOf(each) ?? []);
  if (ts.isLiteralTypeNode(type)) return ['null'];
  if (ts.isTypeOperatorNode(type) || ts.isArrayTypeNode(type)) return ['array'];
  if (type.kind === ts.SyntaxKind.StringKeyword) return ['string'];
  if (type.kind === ts.SyntaxKind.NumberKeyword) return ['number'];
  if (type.kind === ts.SyntaxKind.BooleanKeyword) return ['boolean'];
  return type.kind === ts.SyntaxKind.UnknownKeyword ? undefined : ['object'];
}

function kindsOfSchema(schema: Schema, schemas: Schemas): readonly string[] {
  if (schema.$ref !== undefined) return kindsOfSchema(schemas[schema.$ref.split('/').at(-1)!]!, schemas);
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  const own = [schema.type ?? []].flat().map((type) => (type === 'integer' ? 'number' : type));
  return [...own, ...parts.flatMap((part) => kindsOfSchema(part, schemas)), ...(schema.nullable ? ['null'] : [])];
}

function propertiesOf(schema: Schema, schemas: Schemas): Readonly<Record<string, Schema>> {
  if (schema.$ref !== undefined) return propertiesOf(schemas[schema.$ref.split('/').at(-1)!]!, schemas);
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return Object.assign({}, ...parts.map((part) => propertiesOf(part, schemas)), schema.properties);
}

describe('the answers that pages read', () => {
  it.each(Object.entries(DESCRIBED))('are those of the document of %s', (api, pairs) => {
    const schemas = schemasOf(api);
    const wrong: string[] = [];
    for (const [name, schemaName] of Object.entries(pairs)) {
      const properties = propertiesOf(schemas[schemaName]!, schemas);
      for (const member of interfaces.get(name)!.members.filter(ts.isPropertySignature)) {
        const property = (member.name as ts.Identifier).text;
        const schema = properties[property];
        if (schema === undefined) {
          wrong.push(`${name}.${property}: ${schemaName} has no such member`);
          continue;
        }
        const kinds = kindsOf(member.type!);
        const documented = kindsOfSchema(schema, schemas);
        const foreign = kinds === undefined ? [] : documented.filter((kind) => !kinds.includes(kind));
        if (foreign.length > 0) wrong.push(`${name}.${property}: may also be ${foreign.join(', ')}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are those of /readyz', () => {
    const asPagesRead = (health: NetworkReadiness): Readiness['networks'][string] => health;
    const health = asPagesRead({ ready: true, problem: null, head_seqno: 7, head_age_ms: null });
    expect(health.head_seqno).toBe(7);
  });
});
