import { z } from 'zod'
import { errorShape, errorText, renewalOf } from '../http/index.ts'

const body = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
    error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
  })
  .meta({ id: 'JsonRpcError' })

/** Errors before a message reaches the protocol. Those of a body without a parameter are parse errors. */
export const jsonRpcErrors = errorShape(body, (error) => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: error.status === 400 && error.options.parameter === undefined ? -32_700 : error.status === 404 ? -32_001 : -32_000,
    message: errorText(error),
    data: { code: error.code, ...renewalOf(error.options, 'renewsAt') },
  },
}))
