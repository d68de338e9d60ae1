// What methods of extensions return.
import type {
  AgentDescriptor,
  AgentResult,
  HealthReport,
  PersonLimits,
  ProvidedContext,
  Recipient,
  Schedule,
  ScheduledResult,
} from '../../contracts/index.ts'
import { boolean, type Check, either, isText, json, number, oneOf, optional, record, text } from './value-shapes.ts'

const line = text(500)

export const healthReport: Check<HealthReport> = record({ healthy: boolean, message: optional(text(2_000)) })

export const schedule: Check<Schedule> = record({ cron: text(200), timeZone: optional(text(100)) })

export const recipient: Check<Recipient> = record({ channel: line, userId: line, conversation: optional(line) })

export const scheduledResult: Check<ScheduledResult> = record({ text: text(), to: optional(recipient) })

export const agentDescriptor: Check<AgentDescriptor> = record({
  name: line,
  description: text(4_000),
  integrationMode: oneOf(['tool', 'handoff']),
})

const failure = record({ class: text(100), message: text(4_000), remedy: optional(text(4_000)) })

/** Its usage is not taken over: the kernel counts what `startAgent` used. */
export const agentResult: Check<AgentResult> = record({
  status: oneOf(['completed', 'partial', 'failed', 'interrupted']),
  content: text(),
  value: optional(json),
  error: optional(either(isText, (message, place) => ({ class: 'failed', message: text(4_000)(message, place) }), failure)),
})

export const providedContext: Check<ProvidedContext> = record({ text: text(), priority: optional(number) })

const budget = record({ tokensPerDay: optional(number), costUsdPerDay: optional(number) })

export const personLimits: Check<PersonLimits> = record({ budget: optional(budget), messagesPerMinute: optional(number) })
