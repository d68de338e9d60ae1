import { z } from 'zod'
import { errorShape, errorText, type HttpError, renewalOf, type ServerErrorCode } from '../http/index.ts'

const types: { readonly [Kind in ServerErrorCode]: string } = {
  unauthorized: 'authentication_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  conflict: 'invalid_request_error',
  body_too_large: 'request_too_large',
  unsupported_media_type: 'invalid_request_error',
  invalid_request: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  overloaded: 'overloaded_error',
  unavailable: 'overloaded_error',
  approval_required: 'permission_error',
  unprocessable: 'invalid_request_error',
  turn_failed: 'api_error',
  internal: 'api_error',
}

const body = z
  .object({
    type: z.literal('error'),
    error: z.object({ type: z.string(), message: z.string(), details: z.looseObject({ error_code: z.string() }) }),
    request_id: z.string(),
  })
  .meta({ id: 'AnthropicError' })

/** Clients show the message, and programs read `details`. */
export const anthropicErrors = errorShape(body, (error, requestId) => ({
  type: 'error',
  error: { type: types[error.kind], message: errorText(error), details: detailsOf(error) },
  request_id: requestId,
}))

function detailsOf({ code, options }: HttpError): object {
  const { parameter, sessionId, details } = options
  return {
    error_code: code,
    ...(parameter !== undefined && { parameter }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...renewalOf(options, 'renews_at'),
    ...details,
  }
}
