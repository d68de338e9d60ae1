import type { ErrorShape } from '../server/index.ts'

/** Errors before a message reaches the protocol. Those of a body without a parameter are parse errors. */
export const jsonRpcErrors: ErrorShape = ({ code, message, status, options: { remedy, parameter } }) => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: status === 400 && parameter === undefined ? -32_700 : status === 404 ? -32_001 : -32_000,
    message: remedy === undefined ? message : `${message} ${remedy}`,
    data: { code },
  },
})
