import type { Confinement, ItemId, ItemStatus, MaybePromise, Tool, ToolFailure, ToolOutput } from '../contracts/index.ts'
import type { StartedCall } from '../core/index.ts'
import { approvalName } from '../core/index.ts'
import { utf8Length } from '../util/fit-text.ts'
import { consult, openRequests } from './approvals.ts'
import { CallRun } from './call-run.ts'
import { afterCall } from './hooks.ts'
import { Lanes } from './lanes.ts'
import { fitted, type Shown } from './output.ts'
import { type Stage, since } from './stage.ts'

// The second half of the pipeline: gate → sandbox → execute with deadline and signal → escalate if allowed → hooks →
// redact and fit → account → record. Nothing runs before its intent is durable, and a call that waits for another
// also waits for that one's result to be durable: so a crash can tell what has not begun.

export function execute(stage: Stage, calls: readonly StartedCall[]): Promise<unknown> {
  const [only] = calls
  if (only && calls.length === 1) return runCall(stage, only)
  const lanes = new Lanes(stage.state.agent.limits.parallelToolCalls)
  return Promise.all(calls.map((call) => lanes.run(call.intent.lane, () => runCall(stage, call))))
}

async function runCall(stage: Stage, call: StartedCall): Promise<void> {
  const writing = stage.flush()
  if (writing) await writing
  const { intent } = call
  const { clock } = stage
  const { hooks } = stage.ports
  const tool = stage.toolOf(intent.tool)
  if (stage.interrupt.reason !== undefined)
    return end(stage, call, { status: 'skipped', output: { ok: false, error: notRun }, latencyMs: 0 })
  if (!tool) return end(stage, call, { status: 'failed', output: { ok: false, error: gone(intent.tool) }, latencyMs: 0 })

  const run = new CallRun(stage, tool, call)
  let { status, output } = await run.result
  if (isWalledIn(output, stage.ports.sandbox.confinement) && (await escalate(stage, call))) {
    ;({ status, output } = await new CallRun(stage, tool, { ...call, attempt: call.attempt + 1, unsandboxed: true }).result)
  }
  const latencyMs = since(clock, run.started)
  if (hooks.length > 0) output = await hooked(stage, call, output)
  const ending = end(stage, call, { status, output, latencyMs })
  if (ending) await ending
}

interface Ended {
  readonly status: ItemStatus
  readonly output: ToolOutput
  readonly latencyMs: number
}

function end(stage: Stage, call: StartedCall, ended: Ended): MaybePromise<void> {
  const shown = fitted(stage, ended.output)
  return shown instanceof Promise
    ? shown.then((fit) => noteEnd(stage, call, { ...ended, shown: fit }))
    : noteEnd(stage, call, { ...ended, shown })
}

function noteEnd(stage: Stage, { intent, part }: StartedCall, { status, shown, latencyMs }: Ended & { readonly shown: Shown }): void {
  const { step } = stage.turn
  const item = { id: intent.id, type: intent.type, status, ...shown, latencyMs, bytesIn: utf8Length(part.input) }
  stage.record({
    ...stage.here(step.kind === 'calling' ? step.id : undefined),
    type: 'interaction.item.completed',
    itemId: intent.id,
    item,
  })
  // The last result goes with the next step; the others are committed as they come.
  if (stage.turn.step.kind === 'calling') void stage.flush()
}

async function hooked(stage: Stage, { intent }: StartedCall, output: ToolOutput): Promise<ToolOutput> {
  const { drafts, context } = await afterCall(stage, { tool: intent.tool, input: intent.input }, output)
  for (const draft of drafts) stage.note({ itemId: intent.id, ...draft })
  if (context === '') return output
  return output.ok
    ? { ...output, content: `${output.content}\n\n${context}` }
    : { ...output, partial: `${output.partial ?? ''}\n\n${context}`.trim() }
}

const isWalledIn = (output: ToolOutput, confinement: Confinement): boolean =>
  !output.ok && output.error.class === 'sandbox' && confinement.kind === 'sandbox'

/** Asks to run again outside the sandbox. The second attempt is committed before it starts, like the first. */
async function escalate(stage: Stage, { intent, attempt }: StartedCall): Promise<boolean> {
  const key = { key: `unsandboxed:${intent.tool}:${intent.inputHash}`, label: `${intent.tool} with these arguments, outside the sandbox` }
  if (!stage.state.grants.some((grant) => grant.key === key.key)) {
    const id = approvalName(intent.id, 'unsandboxed')
    const { tool, input, inputHash } = intent
    const request = {
      id,
      itemId: intent.id,
      tool,
      summary: `Run ${tool} again outside the sandbox`,
      input,
      inputHash,
      keys: [key],
      scope: 'unsandboxed',
    } as const
    stage.note({ type: 'interaction.approval.requested', itemId: intent.id, request })
    consult(stage)
    while (openRequests(stage).some((open) => open.id === id)) {
      if (stage.interrupt.reason !== undefined || stage.verdicts.get(id) === 'suspend') return false
      await stage.woken()
    }
    if (!isUnsandboxed(stage, intent.id)) return false
  }
  stage.note({ type: 'interaction.item.updated', itemId: intent.id, attempt: attempt + 1, reason: 'unsandboxed' })
  await stage.flush()
  return true
}

function isUnsandboxed(stage: Stage, itemId: ItemId): boolean {
  const { step } = stage.turn
  return step.kind === 'calling' && step.calls.some((call) => call.itemId === itemId && call.kind === 'started' && call.unsandboxed)
}

const notRun: ToolFailure = { class: 'cancelled', message: 'It was not run: the turn was interrupted before.' }
const gone = (tool: Tool['name']): ToolFailure => ({ class: 'config', message: `The tool "${tool}" is no longer there.` })
