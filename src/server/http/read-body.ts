import type { z } from 'zod'
import type { Problem } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { HttpError } from './http-error.ts'
import { jsonSize } from './json-size.ts'

/** Deeper JSON may exhaust the stack of whatever reads it. Checking more values would keep other clients waiting for seconds. */
const maxSize = { depth: 64, values: 200_000 }

/** Reads and checks a JSON body. Stops reading at `maxBytes`. */
export async function readBody<Body>(request: Request, schema: z.ZodType<Body>, maxBytes: number): Promise<Body> {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity')
    throw new HttpError('unsupported_media_type', `The body has the encoding "${encoding}".`, { remedy: 'Send it without compression.' })
  const type = request.headers.get('content-type')
  if (type !== null && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    throw new HttpError('unsupported_media_type', `The body has the type "${type}".`, {
      remedy: 'Send JSON with Content-Type: application/json.',
    })
  const text = decodeBody(await readBytes(request, maxBytes))
  if (text.trim() === '') throw new HttpError('invalid_request', 'The body is empty.', { remedy: 'Send a JSON object.' })
  return checked(parseJson(text), schema, 'body')
}

export function decodeBody(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new HttpError('invalid_request', 'The body could not be read: it is not UTF-8.', { cause })
  }
}

/** The body as it was sent. Stops reading at `maxBytes`. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = request.headers.get('content-length')
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(maxBytes)
  try {
    // The parser of Node holds the client to the length that it declared.
    if (declared === null) return request.body ? await readPieces(request.body, maxBytes) : new Uint8Array()
    const bytes = new Uint8Array(await request.arrayBuffer())
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
    return bytes
  } catch (error) {
    if (error instanceof HttpError) throw error
    throw new HttpError('invalid_request', 'The body could not be read: the connection was closed.', { cause: error })
  }
}

async function readPieces(body: NonNullable<Request['body']>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    pieces.push(chunk)
  }
  return Buffer.concat(pieces)
}

export function parseJson(text: string): unknown {
  const { depth, values } = jsonSize(text, maxSize)
  if (depth > maxSize.depth)
    throw new HttpError('invalid_request', `The body is nested more than ${maxSize.depth} levels deep.`, { remedy: 'Send flatter JSON.' })
  if (values > maxSize.values)
    throw new HttpError('body_too_large', `The body contains more than ${maxSize.values} values.`, {
      remedy: 'Send fewer values, or send data as one text.',
    })
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HttpError('invalid_request', `The body is not JSON: ${withoutExcerpt(cause)}`, { remedy: 'Send one JSON object.' })
  }
}

/** The message of the parser shows a piece of the body, which may be a secret. */
const withoutExcerpt = (error: unknown): string => messageOf(error).replace(/, (?:\.{3})?".*$/s, ' is not valid JSON')

const maxProblems = 20

/** Reports every problem with its place, up to a few. */
export function checked<Value>(value: unknown, schema: z.ZodType<Value>, where: 'body' | 'query'): Value {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const all = result.error.issues.flatMap((issue) => problemsOf(issue, [], where))
  const problems = all.slice(0, maxProblems)
  const more = all.length > maxProblems ? [`and ${all.length - maxProblems} more problems`] : []
  const [first] = problems
  const hasUnknown = result.error.issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0)
  throw new HttpError('invalid_request', [...problems.map(({ place, message }) => `${place}: ${message}`), ...more].join('; '), {
    problems,
    remedy: hasUnknown ? fieldsOf(schema) : all.length === 1 ? first?.remedy : undefined,
    ...(first && first.place !== where && { parameter: first.place }),
  })
}

function problemsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[], where: string): readonly Problem[] {
  const path = [...above, ...issue.path]
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ place: [...path, key].join('.'), message: 'unknown field' }))
  if (issue.code === 'invalid_union') {
    // The alternative that was meant has problems inside of the value, not with its type.
    const meant = issue.errors.find(
      (problems) => problems.length > 0 && problems.every((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
    )
    if (meant) return meant.flatMap((inner) => problemsOf(inner, path, where))
  }
  // A `refine` gives it with `params: { remedy }`.
  const remedy = issue.code === 'custom' ? (issue.params?.remedy as string | undefined) : undefined
  return [{ place: path.join('.') || where, message: messageOfIssue(issue), ...(remedy !== undefined && { remedy }) }]
}

/** A missing field is called so, and the alternatives of a value are named. Other texts are those of zod. */
function messageOfIssue(issue: z.core.$ZodIssue): string {
  const isMissing = 'input' in issue && issue.input === undefined
  const expected = expectedBy(issue)
  if (expected !== undefined) return isMissing ? `missing; expected ${expected}` : `expected ${expected}`
  if (isMissing) return 'missing'
  return issue.message
}

function expectedBy(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code === 'invalid_type') return issue.expected === 'record' ? 'object' : issue.expected
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(' or ')
  if (issue.code !== 'invalid_union') return undefined
  const { options } = issue as { readonly options?: unknown }
  if (Array.isArray(options)) return options.map((value) => JSON.stringify(value)).join(' or ')
  const all = issue.errors.map(([first]) => first && first.path.length === 0 && expectedBy(first))
  return all.length > 0 && all.every(Boolean) ? [...new Set(all)].join(' or ') : undefined
}

/** For a field that does not exist. */
function fieldsOf(schema: z.ZodType): string | undefined {
  const { shape } = schema as { readonly shape?: object }
  return shape && `Known fields: ${Object.keys(shape).join(', ')}.`
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError('body_too_large', `The body has more than ${maxBytes} bytes.`, { remedy: 'Send less, or raise headends.maxBodyBytes.' })
