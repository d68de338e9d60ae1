// What an extension in a process of its own asks of its context. Every parameter is checked.
import type { ApprovalKey, Clock, ExtensionContext, IncomingMessage, JsonObject, ResolvedTool } from '../../contracts/index.ts'
import { schemaValidator } from '../../tools/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { rateLimit } from '../../util/rate-limit.ts'
import { currentCall, outsideOfCall } from '../calls/current-call.ts'
import { recipient, schedule } from '../shared/answer-shapes.ts'
import { incomingShape } from '../shared/incoming-shape.ts'
import { boolean, type Check, either, json, jsonObject, number, oneOf, optional, record, ShapeError, text } from '../shared/value-shapes.ts'
import type { Params } from './extension-process.ts'
import { deadlines, maxSubscriptions } from './process-limits.ts'
import type { CallOwner } from './remote-instance.ts'
import { trustedOnlyText } from './runner/process-context.ts'
import { maxLogCharacters, maxLogLinesPerSecond } from './runner/wire.ts'

const name = text(200)
const message: Check<IncomingMessage> = record({
  userId: text(500),
  text: text(),
  messageId: optional(text(500)),
  conversation: optional(text(500)),
  ...incomingShape,
})
const once = record({ at: number })
const task = record({
  id: optional(name),
  kind: optional(oneOf(['task', 'reminder'])),
  task: text(10_000),
  when: either((value) => isRecord(value) && 'at' in value, once, schedule),
  to: optional(recipient),
})
const agentOptions = record({ context: optional(jsonObject), instructions: optional(text()), output: optional(jsonObject) })
const publishOptions = record({ durable: optional(boolean), id: optional(name) })

/** Calls an event handler in the process. */
type Deliver = (params: Params, deadlineMs: number) => Promise<unknown>

export class ContextRequests {
  readonly #deliver: Deliver
  readonly #mayLog: () => boolean
  readonly #validator = schemaValidator()
  readonly #subscriptions = new Map<number, () => void>()
  #context: ExtensionContext | undefined

  constructor(deliver: Deliver, clock: Clock) {
    this.#deliver = deliver
    this.#mayLog = rateLimit(2 * maxLogLinesPerSecond, clock)
  }

  connect(context: ExtensionContext): void {
    this.#context = context
  }

  close(): void {
    for (const end of this.#subscriptions.values()) end()
    this.#subscriptions.clear()
  }

  async request(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    const context = this.#context
    if (!context) throw new Error('it is not initialized')
    const read = <Value>(key: string, check: Check<Value>): Value => check(params[key], key)
    switch (method) {
      case 'publish':
        return context.publish(read('name', name), read('data', json), read('options', optional(publishOptions)))
      case 'notifyUser':
        return context.notifyUser(read('text', text()), read('to', optional(recipient)))
      case 'onUserMessage':
        return this.#receive(context, read('message', message))
      case 'startAgent':
        return context.startAgent(read('task', text()), { ...read('options', optional(agentOptions)), signal })
      case 'invokeAgent':
        return context.invokeAgent(read('id', name), read('task', text()), read('context', optional(jsonObject)))
      case 'callTool':
        return this.#callTool(toolNamed(read('name', name), context), read('input', jsonObject), signal)
      case 'addSchedule':
        return context.schedules.add(read('task', task))
      case 'listSchedules':
        return context.schedules.list()
      case 'cancelSchedule':
        return context.schedules.cancel(read('id', name))
      default:
        throw new Error(`the context has no method ${method}`)
    }
  }

  /** @throws ShapeError */
  notification(method: string, params: Params, owner: CallOwner | undefined): void {
    const read = <Value>(key: string, check: Check<Value>): Value => check(params[key], key)
    switch (method) {
      case 'log':
        this.#log(read('level', oneOf(['debug', 'info', 'warn', 'error'])), read('message', text(maxLogCharacters)), params.fields)
        break
      case 'subscribe':
        this.#subscribe(read('subscription', number), read('name', name))
        break
      case 'unsubscribe':
        this.#subscriptions.get(read('subscription', number))?.()
        this.#subscriptions.delete(read('subscription', number))
        break
      case 'progress':
        ;(owner?.kind === 'tool' ? owner.context : owner?.call)?.progress(read('text', text(2_000)))
        break
      case 'output':
        if (owner?.kind === 'tool') owner.context.output(read('text', text()))
        break
      default:
        throw new ShapeError(`the context has no method ${method}`)
    }
  }

  /** A line of its process holds less than a file. */
  #receive(context: ExtensionContext, given: IncomingMessage): Promise<void> {
    if (given.files && given.files.length > 0)
      throw new Error(
        `\`files\` of a message ${trustedOnlyText}. Send the message without them, or run: troupe extensions trust ${context.id}`,
      )
    return context.onUserMessage(given)
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', line: string, fields: unknown): void {
    if (this.#mayLog()) this.#context?.logger[level](line, isRecord(fields) ? (fields as JsonObject) : undefined)
  }

  #subscribe(subscription: number, event: string): void {
    const context = this.#context
    if (!context || this.#subscriptions.has(subscription)) throw new ShapeError('a subscription is wrong')
    if (this.#subscriptions.size >= maxSubscriptions) throw new ShapeError(`there are more than ${maxSubscriptions} subscriptions`)
    const handle = async (given: unknown): Promise<void> => void (await this.#deliver({ subscription, event: given }, deadlines.event))
    this.#subscriptions.set(subscription, context.subscribe(event, handle))
  }

  /** Nobody approves this call, so it is limited to tools that need no approval, and that no rule asks about or denies. */
  async #callTool(tool: ResolvedTool, input: JsonObject, signal: AbortSignal): Promise<unknown> {
    const checked = await (await this.#validator.compile(tool.inputSchema))(input)
    if (!checked.ok) throw new Error(`the input of ${tool.name} is wrong: ${checked.problems.join('; ')}`)
    const { context } = currentCall() ?? {}
    if (!context) throw outsideOfCall(tool.name)
    const { asks = true, keys } = (await tool.approval?.(checked.value as JsonObject)) ?? { asks: false, keys: [wholeTool(tool)] }
    const isAllowed = keys.every((key) => context.mayUse({ ...key, tools: [...(key.tools ?? []), tool.name] }, 'without asking'))
    if (asks || !isAllowed)
      throw new Error(
        `${tool.name} needs approval, and code of an extension that is not trusted cannot ask. Let its agent call the tool: \`startAgent\``,
      )
    const output = await tool.execute(checked.value as JsonObject, { ...context, signal })
    if (typeof output === 'string') return output
    // Neither of them is JSON.
    const { parts: _, extras: __, ...rest } = output
    return rest
  }
}

const wholeTool = ({ name }: ResolvedTool): ApprovalKey => ({ key: `tool:${name}`, label: `any call of ${name}` })

function toolNamed(given: string, { resolvedTools }: ExtensionContext): ResolvedTool {
  const found = resolvedTools.find((each) => each.name === given)
  if (!found) throw new Error(`there is no tool ${given} in \`uses_tools\``)
  return found
}
