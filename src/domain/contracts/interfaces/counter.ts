import { contractInterface } from '#domain/contracts/contract-interface.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';

/** `int get_counter()` */
const getCounter = getMethod('get_counter', (stack) => new MethodResult('get_counter', stack, 1).int());

/** A counter: `get_counter` returns a number. */
export const counter = contractInterface({
  name: 'counter',
  methods: [['get_counter']],
  codes: [],
  read: (view, contract) => view.runGetMethod(contract, getCounter),
  table: { name: 'counters', columns: { value: 'numeric' } },
  row: (value) => ({ value }),
});
