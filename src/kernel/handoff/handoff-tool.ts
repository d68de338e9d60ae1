import type { ChildControl, HandoffReason, JsonObject, Tool, ToolContext, ToolOutput, WaitedAgent } from '../../contracts/index.ts'
import { handoffEndTexts } from '../../policy/limit-texts.ts'
import { agentToolName, childTraits } from '../../tools/index.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { agentInputSchema, taskText } from '../calls/agent-input.ts'
import { type HandoffLimits, judgeHandoff, returnControlName } from './handoff-rules.ts'

// A handoff: the person talks to an agent while the call of its caller stays open.
//
// 1. Everything that a restart needs is in the journal. The call runs again, finds its child, and judges its last turn again.
// 2. The child starts no turn before the rules have judged the turn before.

/** Ends the turn of an agent that talks to the person, and the handoff. */
export const returnControlTool: Tool = {
  name: returnControlName,
  description: 'End your conversation with the person and return control to the assistant, with a report of what was reached.',
  inputSchema: {
    type: 'object',
    properties: { report: { type: 'string', minLength: 1, description: 'For the assistant: the result, and what is left to do.' } },
    required: ['report'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  concurrency: 'shared',
  execute: ({ report }) => ({ ok: true, content: String(report), endsTurn: true }),
}

/** Added to the instructions of an agent that talks to the person. */
const handoffInstructions = `You talk to the person directly now: your answers go to them, and their messages come to you. Call ${returnControlName} when the task is done, or when the person asks for the assistant or for something that is not your task. Do not announce it.`

interface HandoffOptions {
  /** The name of the agent. It has the tool `return_control`. */
  readonly agent: string
  readonly description: string
  readonly limits: HandoffLimits
}

/** Replaces the tool of an agent: its call is a conversation of the agent with the person. */
export const handoffTool = ({ agent, description, limits }: HandoffOptions): Tool => ({
  ...childTraits,
  name: agentToolName({ toolName: agent }),
  description,
  inputSchema: agentInputSchema,
  // One agent talks to the person at a time.
  concurrency: 'exclusive',
  controlsChildren: true,
  view: () => ({ type: 'subagent_call', details: { agent } }),
  execute: (input, context) => converse({ agent, limits, input }, context),
})

interface Handoff extends Pick<HandoffOptions, 'agent' | 'limits'> {
  readonly input: JsonObject
}

async function converse({ agent, limits, input }: Handoff, { children, signal }: ToolContext): Promise<ToolOutput> {
  if (!children) return { ok: false, error: { class: 'config', message: 'This call cannot control children.' } }
  const child = await children.handOver({
    agent,
    input: [{ type: 'text', text: taskText(String(input.task), input.context as JsonObject | undefined) }],
    instructions: handoffInstructions,
    limits: { maxSessionTokens: limits.maxTokensPerInvocation, timeBudget: limits.timeBudgetMs },
  })
  if ('kind' in child) return { ok: false, error: child.failure }
  // A restart came between the end of the conversation and the end of the call.
  if (child.handoff !== 'open') return end(children, child.id, child.handoff ?? 'ended')
  for (let seen = 0; ; ) {
    const waited = await children.wait({ ids: [child.id], mode: 'next', seen, idleMs: limits.idleMs })
    if ('kind' in waited) return { ok: false, error: waited.failure }
    const [now] = waited
    const verdict = now ? judgeHandoff({ child: now, seen, isCancelled: signal.aborted }, limits) : 'ended'
    if (verdict !== 'continue') return end(children, child.id, verdict)
    seen = now?.turn ?? seen
  }
}

async function end(children: ChildControl, id: string, reason: HandoffReason): Promise<ToolOutput> {
  const back = await children.takeBack(id, reason)
  if ('kind' in back) return { ok: false, error: back.failure }
  const said = lastText(back)
  if (reason === 'done') return { ok: true, content: said }
  const failure = reason === 'failed' ? back.result?.failure : undefined
  if (failure) return { ok: false, error: failure, ...(said !== '' && { partial: said }) }
  const reached = said === '' ? 'It has not answered.' : `Its last answer:\n${said}`
  return {
    ok: true,
    content: `The conversation of ${back.agent} with the person ended before the task was done: ${handoffEndTexts[reason]}\n${reached}`,
  }
}

/** Its last answer, also if it was interrupted after it. */
function lastText({ result }: WaitedAgent): string {
  const texts = (result?.conversation ?? []).flatMap((message) => (message.role === 'assistant' ? [textOfParts(message.parts, '')] : []))
  return result?.report?.text ?? texts.findLast((text) => text.trim() !== '') ?? ''
}
