import type { ApprovalKey, ApprovalWish, Diagnostic, JsonObject } from '../../contracts/index.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { copyJson, plainJson } from '../../util/copy-json.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Redactor } from '../../util/redact.ts'
import type { OfferedTool } from '../calls/tool-registry.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { reportOnce } from '../loop/report-once.ts'
import { askTool } from './ask-tool.ts'

// What a tool asks for before a call runs. Tools are other people's code: what is not in the right form is no wish.

/** It stands for the whole tool, and says nothing about the use of a call. */
export const wholeToolKey = (name: string): ApprovalKey => ({ key: `tool:${name}`, label: `any call of ${name}` })

/** What the tool asks for. One that cannot say what it needs is asked about as a whole; only `undefined` is harmless. */
export function readApprovalWish(
  session: ActiveSession,
  { tool, name }: OfferedTool,
  input: JsonObject,
): Promise<ApprovalWish | undefined> {
  const fallback: ApprovalWish = { keys: [wholeToolKey(name)], summary: `Call ${name}` }
  let isAsked = true
  const read = async (): Promise<ApprovalWish | undefined> => {
    const given = await tool.approval?.(copyJson(input))
    if (given === undefined) return undefined
    // As plain data: what is checked is what is asked.
    const wish: unknown = plainJson(given)
    return isApprovalWish(wish) && !keysIn(wish).some((key) => isReservedKey(key, name))
      ? redactWish(session.ports.redactor, wish)
      : fallback
  }
  const reportFailure = (error: unknown): ApprovalWish => {
    if (isAsked) reportOnce(session, failed(name, session.ports.redactor.text(messageOf(error))))
    return fallback
  }
  const answer = Promise.resolve(askTool(session, () => read().catch(reportFailure), fallback))
  return answer.finally(() => {
    isAsked = false
  })
}

const failed = (name: string, why: string): Diagnostic => ({
  code: 'tool_approval_failed',
  severity: 'warning',
  message: `"${name}" could not say what a call needs an approval for: ${asSentence(why)} It is asked about as a whole.`,
  remedy: 'approval() gives undefined where nothing is needed, or { summary, keys }.',
})

const keysIn = ({ keys, wider = [] }: ApprovalWish): readonly ApprovalKey[] => [...keys, ...wider]

function isApprovalWish(value: unknown): value is ApprovalWish {
  const { summary, keys, wider = [], question, diff = '' } = (value ?? {}) as Loose<ApprovalWish>
  const isTold = typeof summary === 'string' && typeof diff === 'string' && (question === undefined || isQuestion(question))
  return isTold && areKeys(keys) && areKeys(wider)
}

const isQuestion = (value: unknown): boolean => typeof (value as { text?: unknown } | null)?.text === 'string'
const areKeys = (value: unknown): value is readonly ApprovalKey[] => Array.isArray(value) && value.every(isApprovalKey)

/** Also of what others have written down: a key that says something else than is understood is none. */
export function isApprovalKey(value: unknown): value is ApprovalKey {
  const { key, label, use, aliases = [], tools = [], within = [], ...flags } = (value ?? {}) as Loose<ApprovalKey>
  return (
    typeof key === 'string' &&
    key !== '' &&
    typeof label === 'string' &&
    (use === undefined || typeof use === 'string' || (areTexts(use) && use.length > 0)) &&
    [aliases, tools, within].every(areTexts) &&
    [flags.mustBeNamed, flags.isPrefix, flags.isOpaque].every((flag) => flag === undefined || typeof flag === 'boolean')
  )
}

type Loose<T> = { readonly [Name in keyof T]?: unknown }
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((each) => typeof each === 'string')

/** A yes to one tool must not be a yes to another, or to leaving the sandbox, whatever the label says. */
function isReservedKey({ key, isPrefix }: ApprovalKey, tool: string): boolean {
  const isOwn = key === wholeToolKey(tool).key && isPrefix !== true
  return !isOwn && reservedPrefixes.some((kind) => key.startsWith(kind) || (isPrefix === true && kind.startsWith(key)))
}

const reservedPrefixes = ['tool:', `${unsandboxedName}:`]

/** With what belongs to a wish and nothing else. */
function redactWish(redactor: Redactor, { summary, keys, wider = [], question, asks, diff }: ApprovalWish): ApprovalWish {
  const hidden = (text: string): string => redactor.text(text)
  // A redacted key still tells equal from different.
  const hiddenKey = ({ key, label, use, aliases, tools, within, isOpaque, mustBeNamed, isPrefix }: ApprovalKey): ApprovalKey => ({
    key: hidden(key),
    label: hidden(label),
    ...(use !== undefined && { use: typeof use === 'string' ? hidden(use) : use.map(hidden) }),
    ...(aliases && { aliases: aliases.map(hidden) }),
    ...(tools && { tools }),
    ...(within && { within: within.map(hidden) }),
    ...(isOpaque === true && { isOpaque }),
    ...(mustBeNamed === true && { mustBeNamed }),
    ...(isPrefix === true && { isPrefix }),
  })
  const options = areTexts(question?.options) ? question.options.map(hidden) : undefined
  return {
    summary: hidden(summary),
    keys: keys.map(hiddenKey),
    ...(asks === false && { asks }),
    ...(wider.length > 0 && { wider: wider.map(hiddenKey) }),
    ...(diff !== undefined && { diff: hidden(diff) }),
    ...(question && { question: { text: hidden(question.text), ...(options && { options }) } }),
  }
}
