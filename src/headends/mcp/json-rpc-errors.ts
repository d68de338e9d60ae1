import { type ErrorShape, errorText, renewalOf } from '../server/index.ts'

/** Errors before a message reaches the protocol. Those of a body without a parameter are parse errors. */
export const jsonRpcErrors: ErrorShape = (error) => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: error.status === 400 && error.options.parameter === undefined ? -32_700 : error.status === 404 ? -32_001 : -32_000,
    message: errorText(error),
    data: { code: error.code, ...renewalOf(error.options, 'renewsAt') },
  },
})
