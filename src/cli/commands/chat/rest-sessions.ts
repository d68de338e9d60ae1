import {
  type AgentDescription,
  type ApprovalDecision,
  type ErrorCode,
  errorTable,
  type SessionEntry,
  type StreamEvent,
  TroupeError,
} from '../../../contracts/index.ts'
import { dataDirFlag, dataDirOf, dataFolder } from '../../../project/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { isRecord } from '../../../util/is-record.ts'
import { redactor } from '../../../util/redact.ts'
import { serverEvents } from '../../../util/server-events.ts'
import { typedWord } from '../../../util/typed-word.ts'
import type { ChatInvocation } from '../../arguments/chat-invocation.ts'
import type { Host } from '../../terminal/process-host.ts'
import type { ChatService, ChatSessions } from './chat-service.ts'

// The session service of a running `troupe serve` or `troupe up`, over its REST interface.

const retryMs = 1_000

/** @throws TroupeError `usage` if the server does not answer, or refuses the token. */
export async function openRestSessions(invocation: ChatInvocation & { readonly connect: string }, host: Host): Promise<ChatService> {
  const { url, token: given } = serverAt(invocation.connect, host.env)
  const folder = dataFolder({ flag: invocation.dataDir, cwd: host.cwd, env: host.env })
  const token = given ?? (isThisMachine(url) ? await tokenIn(folder) : '')
  const http = new RestClient(url, token)
  const [{ agents }, status] = await Promise.all([
    http.get<{ readonly agents: readonly AgentDescription[] }>('/v1/agents'),
    http.get<{
      readonly workspace?: string
      readonly connect?: { readonly models: readonly { readonly model: string }[] }
      readonly warnings?: readonly string[]
    }>('/v1/status'),
  ])
  let watch: (isLost: boolean) => void = () => {}
  const sessions = restSessions(http, agents, (isLost) => watch(isLost))
  const models = status.connect?.models.map(({ model }) => model) ?? []
  const isHere = status.workspace !== undefined && status.workspace === host.cwd
  return {
    sessions,
    workspace: isHere ? host.cwd : undefined,
    dataFolder: folder,
    redact: redactor({ TROUPE_TOKEN: token }).text,
    models,
    notices: [],
    warnings: status.warnings ?? [],
    async checkModel(name, agent) {
      const known = [...agent.models, ...models]
      if (!known.includes(name))
        throw new TroupeError('model_unknown', `The server has no model ${name} for ${agent.name}.`, {
          remedy: `Use one of: ${known.join(', ')}.`,
        })
    },
    watchConnection(listener) {
      watch = listener
    },
    async open(id) {
      const exact = await sessions.get(id)
      if (exact) return exact
      const [only, ...others] = (await sessions.list({ limit: 200 })).filter(({ sessionId }) => sessionId.startsWith(id))
      if (only && others.length === 0) return only
      throw new TroupeError('session_unknown', only ? `Several sessions begin with ${id}.` : `The server has no session ${id}.`, {
        remedy: 'List them: /sessions',
      })
    },
    recent: (limit) => sessions.list({ limit }),
    continueCommand: (id) => `troupe chat --connect ${typedWord(url)} --resume ${id}${dataDirFlag(dataDirOf(folder, host.env))}`,
    async close() {
      http.close()
    },
  }
}

/** The address that `troupe serve` prints has the token behind `#token=`. */
function serverAt(written: string, env: Host['env']): { readonly url: string; readonly token: string | undefined } {
  const url = URL.parse(written)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TroupeError('usage', `--connect expects the address of a server, not ${JSON.stringify(written)}.`, {
      remedy: 'Write it like --connect http://127.0.0.1:3900.',
    })
  const token = new URLSearchParams(url.hash.slice(1)).get('token') ?? env.TROUPE_TOKEN
  return { url: `${url.origin}${url.pathname.replace(/\/$/, '')}`, token }
}

/** The token of the user of this machine is never sent to another one. */
const isThisMachine = (url: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

async function tokenIn(folder: string): Promise<string> {
  const { readLocalToken } = await import('../../../server/index.ts')
  return (await readLocalToken(folder)) ?? ''
}

/** As the server sends it. */
interface SessionDocument extends Omit<SessionEntry, 'createdAt' | 'updatedAt'> {
  readonly createdAt: string
  readonly updatedAt: string
}

const entryOf = ({ createdAt, updatedAt, ...session }: SessionDocument): SessionEntry => ({
  ...session,
  createdAt: Date.parse(createdAt),
  updatedAt: Date.parse(updatedAt),
})

const path = (id: string, rest = ''): string => `/v1/sessions/${encodeURIComponent(id)}${rest}`

function restSessions(http: RestClient, agents: readonly AgentDescription[], onConnection: (isLost: boolean) => void): ChatSessions {
  return {
    async start(input, { agent, models, clientId, labels } = {}) {
      const body = { input, agent, models, clientId, labels }
      return (await http.post<{ readonly sessionId: SessionEntry['sessionId'] }>('/v1/sessions', body)).sessionId
    },
    send: (id, input, { mode, models, clientId } = {}) => http.post(path(id, '/messages'), { input, mode, models, clientId }),
    events: (id) => restEvents(http, id, onConnection),
    approve: (id, { approvalId, decision }) => http.post(path(id, `/approvals/${approvalId}`), sentDecision(decision)),
    cancel: (id, mode) => http.post(path(id, `/${mode}`)),
    async get(id) {
      try {
        return entryOf((await http.get<{ readonly session: SessionDocument }>(path(id))).session)
      } catch (error) {
        if (error instanceof TroupeError && error.code === 'session_unknown') return undefined
        throw error
      }
    },
    async list({ limit = 50 } = {}) {
      const { sessions } = await http.get<{ readonly sessions: readonly SessionDocument[] }>(`/v1/sessions?folder=here&limit=${limit}`)
      return sessions.map(entryOf)
    },
    fork: async (id) => (await http.post<{ readonly sessionId: SessionEntry['sessionId'] }>(path(id, '/fork'), {})).sessionId,
    export: (id) => http.get(path(id, '/export')),
    agents: () => agents,
    agentSetup: (name) => http.get(`/v1/agents/${encodeURIComponent(name)}/setup`),
  }
}

/** A dismissed question is a denial there. */
function sentDecision(decision: ApprovalDecision): object {
  if (decision.kind !== 'deny') return decision
  return { kind: 'deny', ...(decision.feedback !== undefined && { feedback: decision.feedback }) }
}

/** Until the session is deleted or the reader leaves. A lost connection is opened again where it ended. */
function restEvents(http: RestClient, id: string, onConnection: (isLost: boolean) => void): AsyncIterableIterator<StreamEvent> {
  const left = new AbortController()
  const events = (async function* () {
    let cursor = 0
    let isLost = false
    const connection = (isLostNow: boolean): void => {
      if (isLost !== isLostNow && !left.signal.aborted) onConnection(isLostNow)
      isLost = isLostNow
    }
    while (!left.signal.aborted) {
      try {
        const stream = await http.stream(path(id, `/events?after=${cursor}&until=closed`), left.signal)
        connection(false)
        for await (const { event: type, data } of serverEvents(stream)) {
          if (type === 'error') break
          const event = JSON.parse(data) as StreamEvent
          if ('seq' in event) cursor = event.seq
          yield event
        }
      } catch (error) {
        // The server has said that another attempt is no use.
        if (error instanceof TroupeError) throw error
        connection(true)
      }
      if (!left.signal.aborted) await wait(retryMs, left.signal)
    }
  })()
  return {
    next: () => events.next(),
    return() {
      left.abort()
      return events.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const wait = (ms: number, left: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const cancel = systemClock.after(ms, resolve)
    left.addEventListener('abort', () => {
      cancel()
      resolve()
    })
  })

class RestClient {
  readonly #url: string
  readonly #token: string
  readonly #closed = new AbortController()

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  async get<Answer>(path: string): Promise<Answer> {
    return (await this.#request(path, {})).json() as Promise<Answer>
  }

  async post<Answer>(path: string, body?: object): Promise<Answer> {
    const sent = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await this.#request(path, { method: 'POST', ...sent })).json() as Promise<Answer>
  }

  /** @throws TypeError if the network fails. */
  async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream' }
    const { body } = await this.#send(path, { headers, signal: AbortSignal.any([signal, this.#closed.signal]) })
    return body as ReadableStream<Uint8Array>
  }

  close(): void {
    this.#closed.abort()
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#send(path, { ...init, signal: this.#closed.signal })
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new TroupeError('usage', `The server at ${this.#url} does not answer.`, {
        remedy: 'Check the address, and that troupe serve or troupe up runs.',
        cause: error,
      })
    }
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, ...(this.#token !== '' && { authorization: `Bearer ${this.#token}` }) }
    const response = await fetch(`${this.#url}${path}`, { ...init, headers })
    if (!response.ok) throw await refusal(response)
    return response
  }
}

/** The error of the server, with its code if that is one of Troupe. */
async function refusal(response: Response): Promise<TroupeError> {
  const { status } = response
  const document: unknown = await response.json().catch(() => undefined)
  const { code, message, remedy } = isRecord(document) && isRecord(document.error) ? document.error : {}
  const own = typeof code === 'string' && code in errorTable ? (code as ErrorCode) : status === 404 ? 'session_unknown' : 'usage'
  if (status === 401)
    return new TroupeError(own, 'The server refuses the token.', {
      remedy: 'Pass the address that it printed, with its token, or set TROUPE_TOKEN. On this machine, its --data-dir is enough.',
    })
  return new TroupeError(own, typeof message === 'string' ? message : `The server answered with status ${status}.`, {
    ...(typeof remedy === 'string' && { remedy }),
  })
}
