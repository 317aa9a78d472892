import { describe, expect, it } from 'vitest';
import { defineErrors, isTernError, TernError } from '#kernel/tern-error.js';

const errors = defineErrors('kettle', {
  'too-hot': {
    class: 'caller',
    message: (d: { degrees: number }) => `the water has ${d.degrees} degrees`,
    remedy: 'Let it cool.',
  },
  full: { class: 'overloaded', message: () => 'the kettle is full', remedy: 'Wait.' },
});

describe('an error made by a factory', () => {
  const error = errors['too-hot']({ degrees: 104 });

  it('carries code, class, data, sentence and remedy', () => {
    expect(error).toBeInstanceOf(Error);
    expect({ ...error.toPlain() }).toEqual({
      code: 'kettle/too-hot',
      class: 'caller',
      message: 'the water has 104 degrees',
      remedy: 'Let it cool.',
      path: '',
      data: { degrees: 104 },
    });
  });

  it('has a factory that reports the code without making an error', () => {
    expect(errors['too-hot'].code).toBe('kettle/too-hot');
    expect(errors['too-hot'].class).toBe('caller');
    expect(errors['too-hot'].remedy).toBe('Let it cool.');
  });

  it('keeps its cause', () => {
    const cause = new Error('fire');
    expect(errors['too-hot']({ degrees: 1 }, cause).cause).toBe(cause);
    expect('cause' in errors['too-hot']({ degrees: 1 })).toBe(false);
  });

  it('has no stack trace when there is too much to do, and others have one', () => {
    const { stackTraceLimit } = Error;
    expect(errors.full({}).stack).not.toContain('\n');
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    expect(errors['too-hot']({ degrees: 1 }).stack).toContain('tern-error.test');
  });

  it('is recognised by code', () => {
    expect(isTernError(error)).toBe(true);
    expect(isTernError(error, 'kettle/too-hot')).toBe(true);
    expect(isTernError(error, 'kettle/too-cold')).toBe(false);
    expect(isTernError(new Error('kettle/too-hot'))).toBe(false);
  });
});

describe('the path', () => {
  it('grows from the inside out', () => {
    const error = errors['too-hot']({ degrees: 104 }).within('[3]').within('cups').within('kitchen');
    expect(error.path).toBe('kitchen.cups[3]');
    expect(error.message).toBe('the water has 104 degrees (at kitchen.cups[3])');
  });

  it('survives the way through plain data', () => {
    const plain = errors['too-hot']({ degrees: 104 }).within('cup').toPlain();
    const back = TernError.fromPlain(plain);
    expect(back.toPlain()).toEqual(plain);
    expect(back.within('kitchen').message).toBe('the water has 104 degrees (at kitchen.cup)');
  });
});
