import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type LibraryEntry, verifyLibraries } from '#formats/proofs/shard-state.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { readLiteExchanges } from '#test/support/lite-exchanges.js';
import { TlReader } from '#test/support/tl-reader.js';
import { vectorPath } from '#test/support/vector-files.js';

/** A recorded answer that gives a library with its contents. */
function recorded() {
  for (const { function: name, request, response } of readLiteExchanges(vectorPath('proofs/lite-answers.jsonl.gz'))) {
    if (name !== 'liteServer.getLibrariesWithProof') continue;
    const query = new TlReader(request).expect(0xd97693bd);
    const block = query.blockId();
    query.word();
    const hashes = query.vector(() => query.int256());
    const answer = new TlReader(response).expect(0x10a927bf);
    answer.blockId();
    answer.word();
    const result: LibraryEntry[] = answer.vector(() => ({ hash: answer.int256(), data: answer.bytes() }));
    if (result.some(({ data }) => data.length > 0)) {
      return { block, hashes, answer: { result, state_proof: answer.bytes(), data_proof: answer.bytes() } };
    }
  }
  throw new TypeError('no such recording');
}

const { block, hashes, answer } = recorded();

describe('an answer about libraries', () => {
  it('is proven, contents and all', () => {
    const libraries = verifyLibraries(block, hashes, answer);
    expect(libraries.length).toBeGreaterThan(0);
    for (const { hash, cell } of libraries) expect(cell!.hash()).toEqual(hash);
  });

  it('is refused with contents of another hash', () => {
    const data = answer.state_proof;
    expect(parseBocRoot(data).levelMask).toBe(0);
    const error = errorOf(() =>
      verifyLibraries(block, hashes, { ...answer, result: answer.result.map(({ hash }) => ({ hash, data })) }),
    );
    expect(error).toMatchObject({ code: 'proofs/library-hash', path: 'result' });
  });

  it('is refused when a library is kept back', () => {
    expect(errorCode(() => verifyLibraries(block, hashes, { ...answer, result: [] }))).toBe('proofs/library-list');
  });
});
