import type { ApprovalKey, ApprovalWish, Diagnostic, JsonObject } from '../../contracts/index.ts'
import { samplingName } from '../../policy/sampling-rules.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { copyJson, plainJson } from '../../util/json-values.ts'
import { messageOf } from '../../util/message-of.ts'
import { isListOfStrings } from '../../util/option-problems.ts'
import type { Redactor } from '../../util/redact.ts'
import { showValue } from '../../util/show-value.ts'
import type { ActiveSession } from '../session/active-session.ts'
import type { OfferedTool } from '../tools/tool-registry.ts'
import { type ToolAnswer, waitForTool } from './ask-tool.ts'

// What a tool wants approved before a call runs. Tools are third-party code: an invalid wish asks about the whole tool.

/** Covers every call of the tool. */
export const wholeToolKey = (name: string): ApprovalKey => ({ key: `tool:${name}`, label: `any call of ${name}` })

/** Calls the tool's `approval()`. `undefined`: nothing needs approval. If it fails or is too slow, the whole tool is asked about. */
export async function readApprovalWish(
  session: ActiveSession,
  { tool, name }: OfferedTool,
  input: JsonObject,
): Promise<ToolAnswer<ApprovalWish | undefined>> {
  const fallback: ApprovalWish = { keys: [wholeToolKey(name)], summary: `Call ${name}` }
  const read = async (): Promise<ApprovalWish | undefined> => {
    const given = await tool.approval?.(copyJson(input))
    if (given === undefined) return undefined
    // A plain copy: what is checked is what is asked.
    const wish: unknown = plainJson(given)
    if (!isApprovalWish(wish)) throw new Error(`it returned ${showValue(given)}`)
    const reserved = keysIn(wish).find((key) => isReservedKey(key, name))
    if (reserved) throw new Error(`its key ${showValue(reserved.key)} is reserved`)
    return redactWish(session.ports.redactor, wish)
  }
  const report = (why: string): void => session.reportOnce(failed(name, session.ports.redactor.text(why)))
  try {
    const found = await waitForTool(session, tool, read())
    if (found.kind !== 'late' || found.limit.by === 'budget') return found
    report(`it did not answer within ${found.limit.ms / 1000} s`)
  } catch (error) {
    report(messageOf(error))
  }
  return { kind: 'answered', answer: fallback }
}

const failed = (name: string, why: string): Diagnostic => ({
  code: 'tool_approval_failed',
  severity: 'warning',
  message: `approval() of the tool "${name}" failed: ${asSentence(why)} The approval covers the whole tool.`,
  remedy: 'Return { summary, keys } from approval(), or undefined if the call needs no approval.',
})

const keysIn = ({ keys, wider = [] }: ApprovalWish): readonly ApprovalKey[] => [...keys, ...wider]

function isApprovalWish(value: unknown): value is ApprovalWish {
  const { summary, keys, wider = [], question, diff = '' } = (value ?? {}) as Loose<ApprovalWish>
  const isShown = typeof summary === 'string' && typeof diff === 'string' && (question === undefined || isQuestion(question))
  return isShown && areKeys(keys) && areKeys(wider)
}

const isQuestion = (value: unknown): boolean => typeof (value as { text?: unknown } | null)?.text === 'string'
const areKeys = (value: unknown): value is readonly ApprovalKey[] => Array.isArray(value) && value.every(isApprovalKey)

/** Also checks stored keys. */
export function isApprovalKey(value: unknown): value is ApprovalKey {
  const { key, label, use, aliases = [], tools = [], within = [], ...flags } = (value ?? {}) as Loose<ApprovalKey>
  return (
    typeof key === 'string' &&
    key !== '' &&
    typeof label === 'string' &&
    (use === undefined || typeof use === 'string' || (isListOfStrings(use) && use.length > 0)) &&
    [aliases, tools, within].every(isListOfStrings) &&
    [flags.mustBeNamed, flags.isPrefix, flags.isOpaque].every((flag) => flag === undefined || typeof flag === 'boolean')
  )
}

type Loose<T> = { readonly [Name in keyof T]?: unknown }

/** An approval for one tool must not cover another tool, or leaving the sandbox, whatever its label says. */
function isReservedKey({ key, isPrefix }: ApprovalKey, tool: string): boolean {
  const isOwn = key === wholeToolKey(tool).key && isPrefix !== true
  return !isOwn && reservedPrefixes.some((kind) => key.startsWith(kind) || (isPrefix === true && kind.startsWith(key)))
}

const reservedPrefixes = ['tool:', `${unsandboxedName}:`, `${samplingName}:`]

/** Copies known fields only. */
function redactWish(redactor: Redactor, { summary, keys, wider = [], question, asks, diff }: ApprovalWish): ApprovalWish {
  const hidden = (text: string): string => redactor.text(text)
  // Redacted keys of different calls still differ.
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
  const options = isListOfStrings(question?.options) ? question.options.map(hidden) : undefined
  return {
    summary: hidden(summary),
    keys: keys.map(hiddenKey),
    ...(asks === false && { asks }),
    ...(wider.length > 0 && { wider: wider.map(hiddenKey) }),
    ...(diff !== undefined && { diff: hidden(diff) }),
    ...(question && { question: { text: hidden(question.text), ...(options && { options }) } }),
  }
}
