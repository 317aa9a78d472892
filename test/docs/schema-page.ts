import ts from 'typescript';
import { readSources } from '#test/arch/read-sources.js';
import { isTwin, type SourceFile, visit } from '#test/arch/source-file.js';

/** The schema lines that one file of the code quotes, in the order in which they stand there. */
export interface QuotedLines {
  readonly file: string;
  readonly lines: readonly string[];
}

/** A TL-B line: constructor, fields, `=`, type, `;`. */
const schemaLine = /^!?\w*[#$_]?\w*\s[^`…;]*=\s*[A-Z]\w*[^=`…;]*;$/;

/** All schema lines that the codecs below `src/formats/tlb` quote, in calls or in comments, a type that repeats once. */
export function collectSchema(): QuotedLines[] {
  const seen = new Set<string>();
  const quoted = readSources('src/formats/tlb')
    .filter(({ path }) => !isTwin(path))
    .map((source) => ({
      file: source.path,
      lines: quotedIn(source).filter((line) => !seen.has(line) && seen.add(line)),
    }));
  return quoted.filter(({ lines }) => lines.length > 0);
}

/** The schema lines that a file quotes. */
export function quotedIn({ text, tree }: SourceFile): string[] {
  const found: { readonly at: number; readonly line: string }[] = [];
  const add = (at: number, quote: string): void => {
    const line = quote.replace(/\s+/g, ' ').trim();
    if (schemaLine.test(line)) found.push({ at, line });
  };
  visit(tree, (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node.getStart(tree), node.text);
    if (isEnumeration(node)) for (const line of enumerationLines(node)) add(node.getStart(tree), line);
  });
  for (const comment of text.matchAll(/\/\*\*.*?\*\//gs)) {
    for (const quote of comment[0].replace(/\n\s*\* ?/g, ' ').matchAll(/`([^`]+)`/g)) {
      add(comment.index, quote[1] as string);
    }
  }
  const inOrder = found.sort((a, b) => a.at - b.at).map(({ line }) => line);
  return [...new Set(inOrder)];
}

function isEnumeration(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'enumeration';
}

/** `enumeration('AccountStatus', { acc_state_uninit: '$00' })` */
function enumerationLines(call: ts.CallExpression): string[] {
  const [type, tags] = call.arguments;
  if (type === undefined || !ts.isStringLiteral(type) || tags === undefined || !ts.isObjectLiteralExpression(tags))
    return [];
  return tags.properties.flatMap((each) =>
    ts.isPropertyAssignment(each) && ts.isStringLiteral(each.initializer)
      ? [`${each.name.getText()}${each.initializer.text} = ${type.text};`]
      : [],
  );
}

const introduction = `// The TL-B lines that Tern reads and writes, by the file that does it.
//
// Where the published schema has an anonymous cell ^[ ... ] that a proof may leave out, its fields are a type of their own
// here, named for what it holds; tags that the published schema leaves to be computed are written out. Otherwise a line
// is that of crypto/block/block.tlb. A test compares this file with the code; scripts/schema-doc.ts writes it anew.
`;

/** The text of schemas/tern.tlb. */
export function schemaPage(quoted: readonly QuotedLines[]): string {
  const parts = quoted.map(({ file, lines }) => `\n// ${file}\n${lines.map((line) => `${wrapped(line)}\n`).join('')}`);
  return introduction + parts.join('');
}

const WIDTH = 120;

/** The words of a line; what stands in parentheses or braces, and the type after `=`, stay together. */
function phrases(line: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let joined = false;
  for (const word of line.split(' ')) {
    if (joined || depth > 0) found[found.length - 1] += ` ${word}`;
    else found.push(word);
    depth += (word.match(/[({]/g) ?? []).length - (word.match(/[)}]/g) ?? []).length;
    joined ||= word === '=' && depth === 0;
  }
  return found;
}

/** A long line in several, each after the first one indented. */
function wrapped(line: string): string {
  const rows: string[] = [];
  let row = '';
  for (const word of phrases(line)) {
    if (row !== '' && row.length + 1 + word.length > WIDTH) {
      rows.push(row);
      row = `  ${word}`;
    } else {
      row = row === '' ? word : `${row} ${word}`;
    }
  }
  return [...rows, row].join('\n');
}
