import type { ApprovalDecision, ApprovalRequest, InteractionEvent, JsonObject, Outcome, Tool } from '../../src/index.ts'
import { bounded, expectLegal, journalOf, objectSchema, resultsIn, type Setup, tool, type World, world } from '../acceptance/support.ts'

// One agent, tools that need a yes, and a person who is asked: what came of it.

export const yes = (breadth: 'once' | 'session' | 'project' = 'once', key?: string) =>
  ({ kind: 'approve', breadth, ...(key !== undefined && { key }) }) satisfies ApprovalDecision
export const no = (feedback?: string) => ({ kind: 'deny', ...(feedback !== undefined && { feedback }) }) satisfies ApprovalDecision

/** A command line; each part between ` && ` is a key of its own. */
export const shell = (ran: JsonObject[], more: Partial<Tool> = {}): Tool => ({
  ...tool('shell', { schema: objectSchema({ command: { type: 'string' } }, ['command']) }),
  approval: ({ command }) => ({
    summary: `Run ${command}`,
    keys: String(command)
      .split(' && ')
      .map((each) => ({ key: `command:${each}`, label: each })),
    wider: [{ key: `command:${String(command).split(' ')[0]} `, label: 'any such command', isPrefix: true }],
  }),
  execute: (input) => `ran ${ran.push(input)}`,
  ...more,
})

export const run = (command: string) => ({ tool: 'shell', input: { command } })

type Decide = (request: ApprovalRequest, n: number) => ApprovalDecision | 'suspend' | 'wait'

export interface Stage extends World {
  readonly ran: JsonObject[]
  readonly asked: ApprovalRequest[]
}

/** `decide` absent: nobody is there. */
export function stage({ decide, ...setup }: Setup & { readonly decide?: Decide } = {}): Stage {
  const ran: JsonObject[] = []
  const asked: ApprovalRequest[] = []
  const approver = decide && {
    decide: (request: ApprovalRequest) => {
      const answer = decide(request, asked.push(request))
      return typeof answer === 'string' ? answer : { decision: answer, by: 'ann' }
    },
  }
  return { ...world({ tools: [shell(ran)], ...(approver && { approver }), ...setup }), ran, asked }
}

export interface Played extends Stage {
  readonly outcome: Outcome
  readonly events: readonly InteractionEvent[]
  /** What the model was told, for each call in order. */
  readonly told: readonly { readonly ok: boolean; readonly content: string }[]
}

/** One turn to its end, one call a step unless `steps` say otherwise. */
export async function play(calls: readonly object[], setup: Parameters<typeof stage>[0] = {}): Promise<Played> {
  const steps = [...calls.map((call) => ({ calls: Array.isArray(call) ? call : [call] })), { text: 'Done.' }]
  const made = stage({ steps, ...setup } as Parameters<typeof stage>[0])
  const outcome = await bounded(made.runtime.run('go'), 'the turn')
  const events = await journalOf(made.store, outcome.sessionId)
  expectLegal(events, { settled: outcome.status !== 'suspended' })
  const told = made.model.requests.slice(1).flatMap((request) => resultsIn(request))
  return { ...made, outcome, events, told }
}

export const callsOf = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.item.started' && event.item.kind === 'call' ? [event.item] : []))
export const recordsOf = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [event.item] : []))
