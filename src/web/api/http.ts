// Requests to the server that this page comes from. Nothing else is ever requested.

/** An answer of the server that is not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly remedy: string | undefined
  /** Further fields of the error. */
  readonly details: { readonly [field: string]: unknown }

  constructor(
    message: string,
    { status, code, remedy, ...details }: { readonly status: number; readonly code: string; readonly remedy?: string | undefined },
  ) {
    super(message)
    this.status = status
    this.code = code
    this.remedy = remedy
    this.details = details
  }
}

/** The time of an answer has whole seconds, and the answer took time, too: less is no difference. */
const leastDifferenceMs = 3_000

function aheadOf({ headers }: Response): number | undefined {
  const ahead = Date.parse(headers.get('date') ?? '') - Date.now()
  if (Number.isNaN(ahead)) return undefined
  return Math.abs(ahead) < leastDifferenceMs ? 0 : ahead
}

/** `token` is asked for at each request: it may have been replaced. `refused` hears that the token is not accepted. */
export function createHttp({ token, refused }: { token(): string; refused(reason: string): void }) {
  let ahead = 0
  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (token() !== '') headers.set('authorization', `Bearer ${token()}`)
    const response = await fetch(relative(path), { ...init, headers }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      throw new ApiError('The server does not answer.', { status: 0, code: 'network', remedy: 'Check that troupe serve runs.' })
    })
    ahead = aheadOf(response) ?? ahead
    if (response.ok) return response
    const failure = await failureOf(response)
    if (failure.status === 401) refused(failure.message)
    throw failure
  }
  const json = (method: string, body: object | undefined): RequestInit => ({
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return {
    /** How far the clock of the server is ahead of that of the browser, in milliseconds. */
    ahead: (): number => ahead,
    get: async <Answer>(path: string): Promise<Answer> => (await request(path)).json(),
    post: async <Answer>(path: string, body?: object): Promise<Answer> => (await request(path, json('POST', body))).json(),
    patch: async <Answer>(path: string, body: object): Promise<Answer> => (await request(path, json('PATCH', body))).json(),
    delete: async (path: string): Promise<void> => void (await request(path, { method: 'DELETE' })),
    /** Bytes with their media type. */
    blob: async (path: string): Promise<Blob> => (await request(path)).blob(),
    /** A response whose body is read as it arrives. */
    async open(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      const { body } = await request(path, { signal, headers: { accept: 'text/event-stream' } })
      if (!body) throw new ApiError('The server sent an empty answer.', { status: 0, code: 'network' })
      return body
    },
  }
}

/** From the place of the page, which may be below a path. */
const relative = (path: string): string => path.replace(/^\//, '')

async function failureOf(response: Response): Promise<ApiError> {
  const { status } = response
  try {
    const { error } = (await response.json()) as {
      readonly error: { readonly code: string; readonly message: string; readonly remedy?: string }
    }
    return new ApiError(error.message, { ...error, status })
  } catch {
    return new ApiError(`The server answered with status ${status}.`, { status, code: 'unknown' })
  }
}
