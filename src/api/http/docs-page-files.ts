// Style and script of the reference pages: they run in a browser.

/**
 * Narrow screens: nothing of the page is wider than the window, long words break and tables scroll. The version of OpenAPI is not shown:
 * it would be the one that the script makes of the document.
 */
export const PAGE_STYLE = `nav { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 12px 20px; font: 14px sans-serif; background: #fafafa; }
nav a { color: #1a5fb4; }
body { margin: 0; }
.swagger-ui { overflow-wrap: anywhere; }
.swagger-ui .wrapper { max-width: 1460px; box-sizing: border-box; }
.swagger-ui .info .title small.version-stamp { display: none; }
@media (max-width: 700px) {
  .swagger-ui .wrapper { padding: 0 8px; }
  .swagger-ui .opblock-summary-path { max-width: none; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui table { table-layout: fixed; width: 100%; }
  .swagger-ui .parameters-col_name { width: 35%; min-width: 0; }
  .swagger-ui table tbody tr td:first-of-type { max-width: none; min-width: 0; width: 35%; padding-right: 8px; }
  .swagger-ui input, .swagger-ui select, .swagger-ui textarea { max-width: 100% !important; min-width: 0 !important; box-sizing: border-box; }
  .swagger-ui pre, .swagger-ui .markdown pre, .swagger-ui .model-box { max-width: 100%; overflow-x: auto; }
  .swagger-ui .scheme-container .schemes, .swagger-ui .info { min-width: 0; }
}
`;

/**
 * Starts Swagger UI with the document that the page names; nothing is loaded from other servers. Before that it makes of the
 * document what one wants to try: optional parameters start empty (an example goes into the description), a method that GET and POST
 * have is shown once, required parameters are wallets, blocks and messages of a local network, answers are recorded ones, and nothing
 * looks locked where access is open.
 */
export const INIT_SCRIPT = `'use strict';
const root = document.getElementById('swagger-ui');
const { document: place, access, wallets, examples } = root.dataset;

const getJson = (url) => fetch(url).then((response) => (response.ok ? response.json() : Promise.reject(response.status)));

function emptyOptional(parameter) {
  if (parameter.required) return;
  const { example, schema = {} } = parameter;
  const shown = example === undefined ? schema.default : example;
  const word = example === undefined ? 'Default' : 'Example';
  if (shown !== undefined) {
    parameter.description = (parameter.description || '') + ' ' + word + ': \`' + String(shown) + '\`.';
  }
  delete parameter.example;
  parameter.schema = { ...schema };
  delete parameter.schema.default;
  delete parameter.schema.examples;
}

const ADDRESS = /^([EUk0][Qf][\\w-]{46}|-?\\d:[0-9a-fA-F]{64})$/;

function withWallet(value, wallet) {
  if (typeof value === 'string') return ADDRESS.test(value) ? wallet : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => withWallet(one, wallet));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withWallet(one, wallet)]));
}

// Swagger UI takes ten seconds to open an operation of an OpenAPI 3.1 document, and one second with 3.0: keywords that 3.1 added are
// replaced by those of 3.0. An object of unknown keys gets an empty example: no keys are made up.
function asOpenApi30(schema) {
  if (typeof schema !== 'object' || schema === null) return;
  if (schema.anyOf) {
    const choices = schema.anyOf.filter((one) => one.type !== 'null');
    if (choices.length < schema.anyOf.length) schema.nullable = true;
    schema.anyOf = choices;
    if (choices.length === 1) {
      delete schema.anyOf;
      Object.assign(schema, { ...choices[0], ...schema });
    }
  }
  if ('const' in schema) schema.enum = [schema.const];
  if (Array.isArray(schema.examples) && schema.example === undefined) schema.example = schema.examples[0];
  if (schema.contentEncoding === 'base64') schema.format = 'byte';
  if (schema.patternProperties) schema.additionalProperties = Object.values(schema.patternProperties)[0];
  for (const keyword of ['const', 'examples', 'contentEncoding', 'patternProperties']) delete schema[keyword];
  const { type, properties, additionalProperties, items, anyOf = [], oneOf = [], allOf = [] } = schema;
  const isMap = type === 'object' && properties === undefined && additionalProperties !== false;
  if (isMap && schema.example === undefined) schema.example = {};
  [...Object.values(properties || {}), items, additionalProperties, ...anyOf, ...oneOf, ...allOf].forEach(asOpenApi30);
}

// Of several optional parameters these methods want one.
const WANTED = {
  lookupBlock: 'seqno',
  getConfigParam: 'param',
  transactionsByMessage: 'msg_hash',
  pendingTraces: 'account',
  pendingActions: 'account',
  pendingTransactions: 'account',
  'dns/records': 'wallet',
  'multisig/wallets': 'wallet_address',
  'multisig/orders': 'address',
  vesting: 'wallet_address',
};

// What a parameter begins with on a local network.
function fill(parameter, method, { byMethod, byName }) {
  const { name, required, example, schema = {} } = parameter;
  const own = (byMethod[method] || {})[name];
  const isEmpty = required ? example === undefined : WANTED[method] === name;
  const value = own === undefined && isEmpty ? byName[name] : own;
  if (value !== undefined) parameter.example = schema.type === 'array' ? [value] : value;
}

function prepare(document, facts, answers) {
  const wallet = facts === null ? null : facts.byName.address;
  const shared = document.components.parameters || {};
  Object.values(shared).forEach((parameter) => {
    emptyOptional(parameter);
    asOpenApi30(parameter.schema);
  });
  for (const [name, path] of Object.entries(document.paths)) {
    const answer = answers[name.replace('/toncenter/', '/')];
    // Swagger UI does not follow references of a path in a document that it did not load itself.
    if (path.parameters) path.parameters = path.parameters.map(({ $ref }) => shared[$ref.split('/').pop()]);
    if (path.get && path.post) {
      path.get.description = (path.get.description || '') + '\\n\\nAlso as POST with the parameters as a JSON object.';
      delete path.post;
    }
    for (const operation of Object.values(path)) {
      if (access === 'open') delete operation.security;
      const { parameters = [], requestBody, responses = {} } = operation;
      const good = responses['200'] && responses['200'].content && responses['200'].content['application/json'];
      if (good && answer !== undefined) good.example = answer;
      parameters.forEach(emptyOptional);
      parameters.forEach(({ schema }) => asOpenApi30(schema));
      if (wallet === null) continue;
      const method = name.replace(/^.*\\/v\\d\\//, '');
      for (const parameter of parameters) {
        if (parameter.required) parameter.example = withWallet(parameter.example, wallet);
        fill(parameter, method, facts);
      }
      const body = requestBody && requestBody.content && requestBody.content['application/json'];
      if (body && body.example) body.example = withWallet(body.example, wallet);
    }
  }
  if (access === 'open') delete document.components.securitySchemes;
  Object.values(document.components.schemas || {}).forEach(asOpenApi30);
  document.openapi = '3.0.3';
  return document;
}

const api = (path) => getJson(place.replace(/v\\d\\/[^/]*$/, '') + path).catch(() => ({}));

async function readFacts() {
  const [{ wallets: all }, { result: info }, { messages = [] }, { transactions = [] }, { jetton_masters = [] }] =
    await Promise.all([
      getJson(wallets),
      api('v2/getMasterchainInfo'),
      api('v3/messages?exclude_externals=true&exclude_system=true&limit=1'),
      api('v3/transactions?exclude_system=true&limit=1'),
      api('v3/jetton/masters?limit=1'),
    ]);
  const { address } = all.find(({ mnemonic }) => mnemonic !== null);
  const [{ source, destination, created_lt, hash: msg_hash, in_msg_tx_hash } = {}] = messages;
  const [{ hash } = {}] = transactions;
  const between = { source, destination, created_lt };
  return {
    byName: {
      ...{ address, account: address, wallet: address, wallet_address: address, param: 0, seqno: info && info.last.seqno },
      ...{ hash: in_msg_tx_hash || hash, msg_hash },
    },
    byMethod: {
      ...{ tryLocateTx: between, tryLocateResultTx: between, tryLocateSourceTx: between },
      getTokenData: { address: (jetton_masters[0] || {}).address },
    },
  };
}

const known = wallets === undefined ? Promise.resolve(null) : readFacts().catch(() => null);

const recorded = examples === undefined ? Promise.resolve({}) : getJson(examples).catch(() => ({}));

Promise.all([getJson(place), known, recorded]).then(([document, facts, answers]) => {
  window.ui = SwaggerUIBundle({
    spec: prepare(document, facts, answers),
    domNode: root,
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    filter: true,
    persistAuthorization: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
}, (problem) => {
  root.textContent = 'The document of this API cannot be read now (' + problem + '); reload the page in a moment.';
});
`;
