import { TroupeError } from '../../contracts/index.ts'
import { HttpError, openLimit, plainErrors, type Route, readBytes, route } from '../http/index.ts'

// Addresses of extensions, such as those that platforms send their events to. They need no token: what a platform sends is signed, and the
// extension checks it. The server limits bodies, time and the number of requests, because anybody can send one.

const maxBodyBytes = 1024 ** 2
/** Requests whose bodies are read together. The oldest gives way: whoever sends slowly keeps nobody else out. */
const mostBodies = 256

export interface ChannelDependencies {
  /** `undefined`: no extension has this address. Absent without a kernel. */
  answerChannel?(request: Request): Promise<Response | undefined>
}

export function channelRoutes({ answerChannel }: ChannelDependencies): readonly Route[] {
  const limited = openLimit()
  /** Ends the reading of a body. The oldest first. */
  const bodies = new Set<() => void>()

  async function read(raw: Request): Promise<Request> {
    const [oldest] = bodies
    if (bodies.size >= mostBodies) oldest?.()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const end = (): void => {
      bodies.delete(end)
      reject(new HttpError('overloaded', 'Too many requests are open, and this one came slowly.', { retryAfterSeconds: 1 }))
    }
    bodies.add(end)
    return Promise.race([whole(raw), late]).finally(() => bodies.delete(end))
  }

  return [
    route({
      headend: 'channels',
      errors: plainErrors,
      method: 'POST',
      path: '/channels/:extension/:path',
      isRest: true,
      isWebhook: true,
      access: 'public',
      missing: ['channels'],
      isUnlisted: true,
      summary: 'An address of an extension',
      responses: {},
      async handle({ raw, url }) {
        const request = await read(raw)
        const response = answerChannel && (await limited(() => answered(answerChannel, request)))
        if (response) return withHeaders(response)
        throw new HttpError('not_found', `No extension has the address ${url.pathname}.`, {
          remedy: 'An extension has its addresses while it runs: troupe extensions list',
        })
      },
    }),
  ]
}

/** Handlers get what was sent, byte for byte: signatures are over it. */
async function whole(raw: Request): Promise<Request> {
  const { url, method, headers, signal } = raw
  if (method === 'TRACE') throw new HttpError('method_not_allowed', 'The method TRACE is not allowed.')
  const bytes = method === 'GET' || method === 'HEAD' ? undefined : await readBytes(raw, maxBodyBytes)
  return new Request(url, { method, headers, signal, ...(bytes && bytes.byteLength > 0 && { body: bytes }) })
}

async function answered(answer: NonNullable<ChannelDependencies['answerChannel']>, request: Request): Promise<Response | undefined> {
  try {
    return await answer(request)
  } catch (cause) {
    if (cause instanceof TroupeError && cause.code === 'runtime_closed') throw cause
    throw new HttpError('internal', 'The extension failed to answer this request.', { cause })
  }
}

/** A page of an extension runs nothing in the origin of the web chat. Headers of a response may be fixed. */
function withHeaders({ body, status, statusText, headers: given }: Response): Response {
  const headers = new Headers(given)
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', "default-src 'none'; sandbox")
  return new Response(body, { status, statusText, headers })
}
