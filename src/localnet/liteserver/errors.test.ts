import { describe, expect, it } from 'vitest';
import { tlErrors } from '#formats/tl/errors.js';
import { type ErrorData, type ErrorFactory, TernError } from '#kernel/tern-error.js';
import { liteserverErrors, toLiteError } from '#localnet/liteserver/errors.js';

describe('errors that a client receives', () => {
  it('have the codes of the reference software', () => {
    const makers = Object.values(liteserverErrors) as unknown as readonly ErrorFactory<ErrorData>[];
    const codes = makers.map((make) => toLiteError(make({ problem: 'why' })).code);
    expect(codes).toEqual([0, 621, 0, 0, 0, -701, -701, -400, -400, 0, 651, 652, 602]);
  });

  it('distinguish overload from bad requests where a virtual machine runs', () => {
    const codeOf = (code: string) => toLiteError(new TernError(code, 'caller', 'why', 'none', {})).code;
    expect(['tvm/timeout', 'tvm/overloaded', 'tvm/bad-request', 'tvm/crashed'].map(codeOf)).toEqual([
      -503, -503, -400, 602,
    ]);
  });

  it('are 0 for bytes that are no TL, 602 for what was not foreseen', () => {
    expect(toLiteError(tlErrors.underflow({ byte: 4, wanted: 4, left: 0 }))).toEqual({
      code: 0,
      message: '4 bytes requested at byte 4, 0 left',
    });
    expect(toLiteError(new TypeError('secret'))).toEqual({ code: 602, message: 'the query failed' });
  });
});
