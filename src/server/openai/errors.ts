import { z } from 'zod'
import { errorShape, errorText, type HttpError, renewalOf, type ServerErrorCode } from '../http/index.ts'

/** `type` of an error, which programs read. */
const types: { readonly [Kind in ServerErrorCode]: string } = {
  unauthorized: 'authentication_error',
  forbidden: 'permission_error',
  not_found: 'invalid_request_error',
  method_not_allowed: 'invalid_request_error',
  conflict: 'conflict_error',
  body_too_large: 'invalid_request_error',
  unsupported_media_type: 'invalid_request_error',
  invalid_request: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  overloaded: 'server_error',
  unavailable: 'server_error',
  // The AI SDK repeats a request after an error in a stream unless its type or code says otherwise.
  approval_required: 'permission_error',
  unprocessable: 'invalid_request_error',
  turn_failed: 'turn_failed',
  internal: 'server_error',
}

/** Codes that clients of OpenAI know under another name. */
const codes: { readonly [code: string]: string } = {
  unauthorized: 'invalid_api_key',
  agent_unknown: 'model_not_found',
  rate_limited: 'rate_limit_exceeded',
  budget_exhausted: 'insufficient_quota',
}

export interface OpenAiError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string
}

/** The object that clients get as `error`, in a body and in a stream. */
function openAiError(error: HttpError): OpenAiError {
  const { kind, code, options } = error
  const { parameter, sessionId, details } = options
  return {
    message: errorText(error),
    type: code === 'budget_exhausted' ? 'insufficient_quota' : types[kind],
    param: parameter ?? (code === 'agent_unknown' ? 'model' : null),
    code: codes[code] ?? code,
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...renewalOf(options, 'renews_at'),
    ...details,
  }
}

const body = z
  .object({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
      session_id: z.string().optional(),
    }),
  })
  .meta({ id: 'OpenAiError' })

export const openAiErrors = errorShape(body, (error) => ({ error: openAiError(error) }))
