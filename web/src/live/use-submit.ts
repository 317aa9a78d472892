import { useState } from 'preact/hooks';
import { ApiProblem } from '../api/ask.js';

/** An act of the reader: sending a form. */
export interface Submit<Result> {
  readonly run: () => void;
  readonly isRunning: boolean;
  readonly result: Result | null;
  /** A sentence. */
  readonly problem: string | null;
}

/** @param act throws what is shown as the problem */
export function useSubmit<Result>(act: () => Promise<Result>): Submit<Result> {
  const [state, setState] = useState<Omit<Submit<Result>, 'run'>>({ isRunning: false, result: null, problem: null });
  const run = () => {
    if (state.isRunning) return;
    setState({ isRunning: true, result: null, problem: null });
    act().then(
      (result) => setState({ isRunning: false, result, problem: null }),
      (error: unknown) => setState({ isRunning: false, result: null, problem: sentenceOf(error) }),
    );
  };
  return { ...state, run };
}

function sentenceOf(error: unknown): string {
  if (error instanceof ApiProblem) return error.message;
  return error instanceof Error ? error.message : String(error);
}
