import {
  type AgentSpec,
  type ChildResult,
  childLimits,
  type InputPart,
  type JsonObject,
  type SampleRequest,
  type SampleResult,
  type ToolFailure,
} from '../../contracts/index.ts'
import type { StartedCall } from '../../core/index.ts'
import { samplingKey, samplingName } from '../../policy/sampling-rules.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { plainJson } from '../../util/json-values.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { askWhileRunning } from '../approval/ask-person.ts'
import { findGrant, rulingFor } from '../approval/permission.ts'
import type { ActiveSession } from '../session/active-session.ts'

// Requests of tools to a model (MCP: sampling). Each is a child session of the call, without tools.

const maxMessages = 100

/** What is sent: `input` for the person who approves it, `agent` and `parts` for the child. */
interface Sample {
  readonly from: string
  readonly input: JsonObject
  readonly agent: AgentSpec
  readonly parts: readonly InputPart[]
}

/** @throws Error if the request is invalid. */
export function readSample({ state, ports: { redactor } }: ActiveSession, { intent }: StartedCall, given: SampleRequest): Sample {
  const { systemPrompt = '', maxTokens, temperature, modelHints = [], from = intent.tool } = given
  const messages = Array.isArray(given.messages) ? given.messages : []
  if (messages.length === 0 || messages.length > maxMessages) throw new Error(`sample.messages: expected 1 to ${maxMessages} messages`)
  const hidden = (text: unknown): string => redactor.text(String(text))
  const parts = partsOf(messages).map((part): InputPart => (part.type === 'text' ? { type: 'text', text: hidden(part.text) } : part))
  const prompt = hidden(systemPrompt)
  const { agent } = state
  const wanted = agent.models.filter((model) => modelHints.some((hint) => model.includes(String(hint))))
  const mostTokens = [maxTokens, agent.parameters.maxOutputTokens].filter((each): each is number => typeof each === 'number' && each >= 1)
  const name = cutText(hidden(from), 100)
  return {
    from: name,
    input: plainJson({ ...(prompt !== '' && { systemPrompt: prompt }), messages: parts.map(shownPart), maxTokens }) ?? {},
    agent: {
      name: samplingName,
      description: `A request of ${name} to the model`,
      prompt,
      models: [...new Set([...wanted, ...agent.models])],
      tools: [],
      limits: { ...agent.limits, ...childLimits, maxToolTurns: 1 },
      parameters: {
        ...(mostTokens.length > 0 && { maxOutputTokens: Math.floor(Math.min(...mostTokens)) }),
        ...(typeof temperature === 'number' && { temperature }),
      },
      output: { format: 'markdown' },
      toolName: samplingName,
      input: { format: 'text' },
      agents: [],
      isInline: true,
    },
    parts,
  }
}

/** One user message as it is; several with their roles. */
function partsOf(messages: SampleRequest['messages']): readonly InputPart[] {
  const [only, ...others] = messages
  if (only?.role === 'user' && others.length === 0) return only.parts
  return messages.flatMap(({ role, parts }) => [{ type: 'text', text: `[${role}]` } as const, ...parts])
}

const shownPart = (part: InputPart): string => (part.type === 'text' ? wellFormed(part.text) : `[${part.mediaType}]`)

/** Rules and grants decide first, then a person. `undefined`: it may be sent. */
export async function samplingRefusal(
  session: ActiveSession,
  call: StartedCall,
  { sample: { from, input }, isWithdrawn }: { readonly sample: Sample; readonly isWithdrawn: () => boolean },
): Promise<ToolFailure | undefined> {
  const keys = [samplingKey(from)]
  const ruled = rulingFor(session, { names: [samplingName], keys })
  if (ruled?.verdict === 'deny') return denied(from, `a rule forbids it: ${ruled.rule}`)
  if (ruled?.verdict === 'allow' || (await findGrant(session, [], keys)) !== undefined) return undefined
  const summary = `Send a request of ${from} to the model`
  const decision = await askWhileRunning(session, call, { asked: { scope: 'sampling', summary, keys, input }, isWithdrawn })
  if (decision?.kind === 'approve') return undefined
  return denied(from, decision?.kind === 'deny' && decision.feedback !== undefined ? decision.feedback : 'it was not approved')
}

const denied = (from: string, why: string): ToolFailure => ({
  class: 'denied',
  message: `The request of ${from} to the model was not sent: ${asSentence(why)}`,
  remedy: `Allow it with the rule ${samplingName}(${from}).`,
})

export function sampleResult(result: ChildResult, models: readonly string[]): SampleResult {
  if (result.kind === 'refused') return { ok: false, error: result.failure }
  const text = result.report?.text
  if (text === undefined || (result.status !== 'completed' && result.status !== 'partial'))
    return { ok: false, error: result.failure ?? { class: 'failed', message: 'The model gave no answer.' } }
  const model = result.accounting.findLast((entry) => entry.kind === 'model')?.model ?? models[0] ?? ''
  return { ok: true, text, model, stopReason: result.status === 'partial' ? 'length' : 'stop' }
}
