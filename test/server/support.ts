import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { join } from 'node:path'
import type {
  Approver,
  Clock,
  Model,
  ModelAdapter,
  ModelPart,
  ModelRequest,
  ProjectGrants,
  Sandbox,
  Store,
  Tool,
} from '../../src/contracts/index.ts'
import { type AgentLoopConfig, type AgentRuntime, createAgentRuntime, systemClock } from '../../src/runtime/index.ts'
import {
  auditLog,
  budgetOfTokens,
  createToken,
  type Definitions,
  type HeadendServer,
  type HeadendServerOptions,
  headendServer,
  type ListenOptions,
  listen,
  openApiDocument,
  type Route,
  serverRoutes,
  storedTokens,
  type TokenSettings,
} from '../../src/server/http/index.ts'
import type { ServedKernel } from '../../src/server/index.ts'
import { type RestDependencies, restRoutes } from '../../src/server/rest/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { type ApiDocument, checkedAnswers } from './checked-answers.ts'

// A real server on loopback, over a real runtime. Only the model is scripted.

export const localToken = 'local-token-of-the-tests'

export interface ServedOptions {
  /** Steps of a scripted model, or a model. Default: it repeats the last message. */
  readonly model?: readonly ScriptedStepSource[] | Model | ModelAdapter
  readonly agents?: AgentLoopConfig['agents']
  readonly tools?: readonly Tool[]
  readonly config?: Partial<AgentLoopConfig>
  readonly store?: Store
  readonly clock?: Clock
  readonly approver?: Approver
  readonly grants?: ProjectGrants
  readonly sandbox?: Sandbox
  /** The sessions, as a kernel uses them. */
  readonly sessions?: ServedKernel['sessions']
  /** Routes of other protocols, before those of REST. */
  routes?(runtime: AgentRuntime): readonly Route[]
  readonly rest?: Partial<RestDependencies>
  readonly server?: Partial<HeadendServerOptions>
  readonly listen?: Partial<ListenOptions>
}

export interface Served {
  readonly url: string
  readonly runtime: AgentRuntime
  readonly store: Store
  readonly routes: readonly Route[]
  readonly log: readonly Parameters<NonNullable<HeadendServerOptions['log']>>[0][]
  /** Unexpected errors of the server: none, in most tests. */
  readonly errors: readonly unknown[]
  readonly headends: HeadendServer
  readonly http: Server
  /** Another token. */
  token(settings: Partial<TokenSettings> & { readonly name: string }): Promise<string>
  /** With the local token unless another one is given. */
  fetch(path: string, options?: RequestInit & { readonly token?: string; readonly json?: unknown }): Promise<Response>
  /** As at a signal. */
  drain(): void
  close(): Promise<void>
}

export async function serve(options: ServedOptions = {}): Promise<Served> {
  const {
    store = memoryStore(),
    clock = systemClock,
    agents = [{ name: 'echo', description: 'Repeats.', prompt: 'Repeat.', model: 'test/echo', tools: [] }],
  } = options
  const runtime = createAgentRuntime({
    config: { agents, ...(options.tools && { tools: options.tools }), ...options.config },
    adapter: modelOf(options.model),
    store,
    clock,
    ...(options.grants && { grants: options.grants }),
    ...(options.sandbox && { sandbox: options.sandbox }),
    // As `troupe serve`: a request waits until somebody answers.
    approver: options.approver ?? { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') },
    budgetOf: budgetOfTokens(store.records),
  })
  const ids = { next: () => randomUUID() }
  const log: Parameters<NonNullable<HeadendServerOptions['log']>>[0][] = []
  const errors: unknown[] = []
  const rest = [
    ...(options.routes?.(runtime) ?? []),
    ...restRoutes({
      clock,
      version: '0.0.0',
      usages: store.usages,
      audit: auditLog(store.records, { clock, ids }),
      extensions: () => [],
      ...options.rest,
    }),
  ]
  const definitions = (): Definitions =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/stream-event.schema.json'), 'utf8')).$defs
  const routes = [...serverRoutes({ version: '0.0.0', problems: () => [], metrics: () => '', definitions }, rest), ...rest]
  const server = headendServer({
    sessions: options.sessions?.(runtime.sessions) ?? runtime.sessions,
    routes,
    tokens: storedTokens(store.records, { clock, localToken }),
    records: store.records,
    names: { hosts: ['127.0.0.1'], origins: [] },
    clock,
    ids,
    log: (entry) => log.push(entry),
    onError: (error) => errors.push(error),
    ...options.server,
  })
  const listed = routes.filter(({ isUnlisted }) => !isUnlisted)
  const document = async () => openApiDocument(listed, { version: '0.0.0', definitions: definitions() }) as ApiDocument
  const answers = checkedAnswers(server.fetch, routes, document)
  const listening = await listen({ ...server, fetch: answers.fetch }, { host: '127.0.0.1', port: 0, clock: systemClock, ...options.listen })
  const url = `http://127.0.0.1:${listening.port}`
  return {
    url,
    runtime,
    store,
    routes,
    log,
    errors,
    headends: server,
    http: listening.server,
    token: (settings) => createToken(store.records, { scopes: ['run', 'read', 'approve'], ...settings }, { clock }),
    fetch(path, { token = localToken, json, headers, ...init } = {}) {
      return fetch(`${url}${path}`, {
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
        ...init,
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          ...((json !== undefined || typeof init.body === 'string') && { 'content-type': 'application/json' }),
          ...(headers as Record<string, string>),
        },
      })
    },
    drain: () => server.drain(),
    async close() {
      await listening.close(0)
      await runtime.close()
      await store.close()
      if (answers.problems.length > 0) throw new Error(`Answers differ from /openapi.json:\n${answers.problems.slice(0, 3).join('\n')}`)
    },
  }
}

const isSteps = (model: ServedOptions['model']): model is readonly ScriptedStepSource[] => Array.isArray(model)

const modelOf = (model: ServedOptions['model'] = echoModel()): Model | ModelAdapter => (isSteps(model) ? new ScriptedModel(model) : model)

/** Repeats the text of the last message of the user, word by word. */
export function echoModel(id = 'test/echo'): Model {
  return {
    id,
    abilities: ['tools', 'images', 'files', 'json_schema'],
    async *stream({ messages }: ModelRequest): AsyncGenerator<ModelPart> {
      const last = messages.findLast((message) => message.role === 'user')
      const text = last?.role === 'user' ? last.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ') : ''
      for (const word of text.split(/(?<= )/)) {
        // As a provider does: other work goes on between two pieces.
        await new Promise((resolve) => setImmediate(resolve))
        yield { type: 'text', text: word }
      }
      yield { type: 'finish', reason: 'stop', usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }
    },
  }
}
