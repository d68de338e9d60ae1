// The instance of an extension that runs in a process of its own: each method is a call.
import type {
  AgentDescriptor,
  AgentResult,
  AnyExtension,
  ExtensionContext,
  InvokeCall,
  OutgoingFile,
  OutgoingMessage,
  ToolContext,
} from '../../contracts/index.ts'
import { invokeGraceMs } from '../calls/invocation.ts'
import {
  agentDescriptor,
  agentResult,
  healthReport,
  personLimits,
  providedContext,
  schedule,
  scheduledResult,
} from '../shared/answer-shapes.ts'
import type { ExtensionManifest } from '../shared/kernel-types.ts'
import { type Check, either, isText, maxTextCharacters, optional, record, ShapeError, text } from '../shared/value-shapes.ts'
import type { ExtensionProcess, Params } from './extension-process.ts'
import { deadlines, terminateMs } from './process-limits.ts'
import { remoteTools } from './remote-tools.ts'
import type { ExtensionMethod } from './runner/wire.ts'

/** What progress and output of a call go to, and tools that it calls belong to. */
export type CallOwner = { readonly kind: 'tool'; readonly context: ToolContext } | { readonly kind: 'invoke'; readonly call: InvokeCall }

interface RemoteOptions {
  readonly process: ExtensionProcess<CallOwner>
  readonly manifest: ExtensionManifest
  readonly implemented: ReadonlySet<ExtensionMethod>
  connect(context: ExtensionContext): void
}

/** It has the methods that the extension implements, `initialize` for the context, and `healthCheck`, which shows that it answers. */
export function remoteInstance({ process, manifest, implemented, connect }: RemoteOptions): AnyExtension {
  let descriptor: AgentDescriptor | undefined
  const { timeBudgetMs } = manifest.agent?.limits ?? {}
  const call = async <Value>(method: ExtensionMethod, check: Check<Value>, { params = {}, ...options }: CallParts = {}): Promise<Value> => {
    const answer = await process.call(method, params, { deadlineMs: deadlines[method], ...options })
    return check(answer, method)
  }
  const all: { readonly [Method in ExtensionMethod]: NonNullable<AnyExtension[Method]> } = {
    async initialize(context) {
      connect(context)
      const { id, config, folder, dataDir, workspace, resolvedTools } = context
      const tools = resolvedTools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
      const check = record({ descriptor: optional(agentDescriptor) })
      descriptor = (await call('initialize', check, { params: { id, config, folder, dataDir, workspace, tools } })).descriptor
    },
    start: () => call('start', nothing),
    stop: () => call('stop', nothing),
    destroy: () => call('destroy', nothing),
    healthCheck: () => call('healthCheck', optional(healthReport)),
    async getTools() {
      const listed = await call('getTools', anything)
      return remoteTools(listed, manifest, (params, context, deadlineMs) =>
        process.call('tool', params, { deadlineMs, signal: context.signal, owner: { kind: 'tool', context } }),
      )
    },
    async sendToUser(userId, { files = [], ...message }) {
      await call('sendToUser', nothing, { params: { userId, message } })
      if (files.length > 0) await call('sendToUser', nothing, { params: { userId, message: filesNotice(message, files) } })
    },
    streamToUser: (userId, piece) => call('streamToUser', nothing, { params: { userId, piece } }),
    limitsOf: (personId) => call('limitsOf', optional(personLimits), { params: { personId } }),
    showProgress: (userId, progress) => call('showProgress', nothing, { params: { userId, progress } }),
    closeRequest: (userId, closed) => call('closeRequest', nothing, { params: { userId, closed } }),
    runBackground: (signal) => call('runBackground', nothing, { signal, graceMs: terminateMs }),
    getSchedule: () => call('getSchedule', either(isText, text(200), schedule)),
    execute: () => call('execute', optional(scheduledResult)),
    getAgentDescriptor() {
      if (!descriptor) throw new ShapeError('getAgentDescriptor returned nothing in `initialize`')
      return descriptor
    },
    invoke(task, context, given) {
      const { person, correlationId, signal } = given
      const params = { task, context, call: { person, correlationId } }
      return call('invoke', either<string, AgentResult>(isText, text(maxTextCharacters), agentResult), {
        params,
        signal,
        owner: { kind: 'invoke', call: given },
        graceMs: invokeGraceMs,
        // The kernel aborts the signal at the time budget.
        ...(timeBudgetMs !== undefined && { deadlineMs: timeBudgetMs + 2 * invokeGraceMs }),
      })
    },
    getContext: (request) => call('getContext', optional(providedContext), { params: { request } }),
  }
  const offered = Object.entries(all).filter(([name]) => isAlways(name) || implemented.has(name as ExtensionMethod))
  return Object.fromEntries(offered) as AnyExtension
}

/** Their bytes do not cross the sandbox. The text of the message may have been streamed. */
const filesNotice = ({ id, speaker, conversation }: OutgoingMessage, files: readonly OutgoingFile[]): OutgoingMessage => ({
  id: `${id}:files`,
  kind: 'notice',
  speaker,
  text: `Not sent, because the extension of this channel runs in the sandbox: ${files.map(({ name }) => name).join(', ')}.`,
  ...(conversation !== undefined && { conversation }),
})

interface CallParts {
  readonly params?: Params
  readonly signal?: AbortSignal
  readonly graceMs?: number
  readonly deadlineMs?: number
  readonly owner?: CallOwner
}

const isAlways = (name: string): boolean => name === 'initialize' || name === 'healthCheck'
const nothing: Check<void> = () => undefined
const anything: Check<unknown> = (value) => value
