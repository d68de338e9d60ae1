import type { InteractionEvent } from '../../src/contracts/index.ts'

/** How a test asks the server, beside the page. */
export interface Asks {
  fetch(path: string, options?: RequestInit & { readonly json?: unknown }): Promise<Response>
}

/** The durable events of a session and its descendants. */
export async function journalOf({ fetch }: Asks, id: string): Promise<readonly InteractionEvent[]> {
  const events: InteractionEvent[] = []
  for (let after = 0; ; ) {
    const page = (await (await fetch(`/v1/sessions/${id}/events?after=${after}`)).json()) as {
      readonly events: readonly InteractionEvent[]
      readonly next?: number
    }
    events.push(...page.events)
    if (page.next === undefined) return events
    after = page.next
  }
}

/** The answers of the root agent, oldest first. */
export const answersIn = (events: readonly InteractionEvent[], id: string): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'interaction.turn.completed' && event.sessionId === id ? [event.report.text.replaceAll(/\s+/g, ' ').trim()] : [],
  )

/** Starts a session beside the page. */
export async function startSession({ fetch }: Asks, input: string, agent = 'trip'): Promise<string> {
  const response = await fetch('/v1/sessions', { json: { agent, input } })
  if (response.status !== 201) throw new Error(await response.text())
  return ((await response.json()) as { readonly sessionId: string }).sessionId
}

export async function statusOf({ fetch }: Asks, id: string): Promise<string> {
  return ((await (await fetch(`/v1/sessions/${id}`)).json()) as { readonly session: { readonly status: string } }).session.status
}

/** Approves the first call that needs it, as soon as it does. */
export async function approve({ fetch }: Asks, id: string): Promise<void> {
  for (;;) {
    const { approvals } = (await (await fetch(`/v1/sessions/${id}/approvals`)).json()) as {
      readonly approvals: readonly { readonly id: string }[]
    }
    const [first] = approvals
    if (first) return void (await fetch(`/v1/sessions/${id}/approvals/${first.id}`, { json: { kind: 'approve', breadth: 'once' } }))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
