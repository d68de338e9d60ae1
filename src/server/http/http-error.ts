import { z } from 'zod'
import { ApprovalAnsweredError, BudgetExhaustedError, type ErrorCode, type Problem, TroupeError } from '../../contracts/index.ts'
import { asSentence } from '../../util/as-sentence.ts'

/** Codes of the server itself, beside those of `TroupeError`. */
export const serverErrors = {
  unauthorized: { status: 401, summary: 'the token is missing or wrong' },
  forbidden: { status: 403, summary: 'the token, Host or Origin does not allow this' },
  not_found: { status: 404, summary: 'there is no such route or thing' },
  method_not_allowed: { status: 405, summary: 'the route has no such method' },
  conflict: { status: 409, summary: 'the state of the session does not allow this' },
  body_too_large: { status: 413, summary: 'the body is too large' },
  unsupported_media_type: { status: 415, summary: 'the body is not plain JSON' },
  invalid_request: { status: 400, summary: 'a parameter or a field of the body is wrong' },
  rate_limited: { status: 429, summary: 'the token has used its requests or its budget' },
  overloaded: { status: 503, summary: 'too many turns are running' },
  unavailable: { status: 503, summary: 'the server is shutting down or cannot reach its store' },
  // These have statuses on which no client repeats the request on its own: that would start another turn, which acts again.
  approval_required: { status: 403, summary: 'the session waits for a person' },
  unprocessable: { status: 422, summary: 'the template of a webhook cannot use the body' },
  turn_failed: { status: 422, summary: 'the turn ended without an answer' },
  internal: { status: 500, summary: 'an error of the server' },
} as const

export type ServerErrorCode = keyof typeof serverErrors

const statusOfCode: { readonly [Code in ErrorCode]: ServerErrorCode } = {
  usage: 'invalid_request',
  config_invalid: 'invalid_request',
  agent_file_invalid: 'unavailable',
  agent_unknown: 'not_found',
  model_unknown: 'invalid_request',
  extension_failed: 'unavailable',
  model_key_missing: 'unavailable',
  model_unavailable: 'unavailable',
  tools_unavailable: 'unavailable',
  script_invalid: 'internal',
  script_mismatch: 'internal',
  session_unknown: 'not_found',
  step_unknown: 'not_found',
  request_not_recorded: 'not_found',
  session_driven: 'conflict',
  session_mismatch: 'conflict',
  session_moved: 'conflict',
  approval_unknown: 'not_found',
  approval_answered: 'conflict',
  client_id_taken: 'conflict',
  budget_exhausted: 'rate_limited',
  store_failed: 'unavailable',
  store_invalid: 'internal',
  index_damaged: 'unavailable',
  command_failed: 'internal',
  runtime_closed: 'unavailable',
  internal: 'internal',
}

interface HttpErrorOptions {
  /** A code of the table; default: the code of the server. */
  readonly code?: string
  readonly remedy?: string | undefined
  readonly problems?: readonly Problem[]
  /** The parameter or field that is wrong. */
  readonly parameter?: string
  readonly sessionId?: string
  readonly retryAfterSeconds?: number
  /** When a used up budget or limit is renewed, in milliseconds since 1970. */
  readonly renewsAt?: number
  /** The same request will never succeed: clients that repeat requests by themselves stop. */
  readonly isFinal?: true
  /** Further fields of the error, for programs. */
  readonly details?: object
  readonly cause?: unknown
}

/** An error that a client sees. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly kind: ServerErrorCode
  readonly status: number
  readonly options: HttpErrorOptions

  constructor(kind: ServerErrorCode, message: string, options: HttpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.status = serverErrors[kind].status
    this.options = options
  }

  get code(): string {
    return this.options.code ?? this.kind
  }
}

/** Message and remedy, for protocols that have one text only. */
export const errorText = ({ message, options: { remedy } }: HttpError): string =>
  remedy === undefined ? message : `${asSentence(message)} ${remedy}`

/** The time of a renewal in the name that the protocol would give it. */
export const renewalOf = ({ renewsAt }: HttpErrorOptions, name: 'renewsAt' | 'renews_at'): object =>
  renewsAt === undefined ? {} : { [name]: new Date(renewsAt).toISOString() }

export type ErrorBody<Body extends object = object> = (error: HttpError, requestId: string) => Body

/** The body of an error in the format of a protocol, with its schema for the OpenAPI document. */
export type ErrorShape = ErrorBody & { readonly schema: z.ZodType }

export const errorShape = <Body extends object>(schema: z.ZodType, body: ErrorBody<Body>) => Object.assign(body, { schema })

/** Unexpected errors get no details: they may contain anything. `unexpected`: learns of them. */
export function toHttpError(thrown: unknown, unexpected?: (error: unknown) => void): HttpError {
  const error = httpErrorOf(thrown)
  if (error.status === 500) unexpected?.(error.cause ?? error)
  return error
}

function httpErrorOf(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown
  if (thrown instanceof TroupeError) {
    const { code, message, remedy, problems } = thrown
    const kind = statusOfCode[code]
    if (kind === 'internal') return new HttpError('internal', 'The server failed to answer this request.', { code, cause: thrown })
    return new HttpError(kind, message, {
      code,
      remedy,
      problems,
      cause: thrown,
      ...(kind === 'unavailable' && { retryAfterSeconds: 5 }),
      ...(thrown instanceof ApprovalAnsweredError && { isFinal: true, details: { first: thrown.first } }),
      ...(thrown instanceof BudgetExhaustedError &&
        thrown.renewal && { retryAfterSeconds: thrown.renewal.retryAfterMs / 1000, renewsAt: thrown.renewal.renewsAt }),
    })
  }
  return new HttpError('internal', 'The server failed to answer this request.', { cause: thrown })
}

/** Further fields: `details` of the error. */
const plainError = z
  .object({
    error: z.looseObject({
      code: z.string(),
      message: z.string(),
      remedy: z.string().optional(),
      parameter: z.string().optional(),
      problems: z.array(z.object({ place: z.string(), message: z.string(), remedy: z.string().optional() })).optional(),
      sessionId: z.string().optional(),
      requestId: z.string().optional(),
    }),
  })
  .meta({ id: 'Error' })

/** Errors of REST and of routes that belong to no other protocol. */
export const plainErrors = errorShape(plainError, ({ code, message, options }, requestId) => {
  const { remedy, problems, parameter, sessionId, details } = options
  return {
    error: {
      code,
      message,
      ...(remedy !== undefined && { remedy }),
      ...(parameter !== undefined && { parameter }),
      ...(problems &&
        problems.length > 0 && {
          problems: problems.map(({ place, message: text, remedy: help }) => ({ place, message: text, remedy: help })),
        }),
      ...(sessionId !== undefined && { sessionId }),
      ...renewalOf(options, 'renewsAt'),
      ...details,
      requestId,
    },
  }
})

export function errorResponse(error: HttpError, shape: ErrorBody, requestId: string): Response {
  const { retryAfterSeconds, isFinal } = error.options
  return Response.json(shape(error, requestId), {
    status: error.status,
    headers: {
      'x-request-id': requestId,
      ...(error.status === 401 && { 'www-authenticate': 'Bearer realm="troupe"' }),
      // Clients of OpenAI and Anthropic repeat a 429 unless this header says that it does not help.
      ...((isFinal || (error.status === 429 && retryAfterSeconds === undefined)) && { 'x-should-retry': 'false' }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }),
    },
  })
}
