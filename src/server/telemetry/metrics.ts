import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { addUsd, type InteractionEvent } from '../../contracts/index.ts'
import type { DeliveryCounts } from '../../project/index.ts'
import type { ContinuedSession, RuntimeObserver } from '../../runtime/index.ts'
import type { AccessEntry, TurnPlaces } from '../http/index.ts'
import { genAiMetrics } from './gen-ai-metrics.ts'

// Names of agents, models, tools and webhooks are labels: the configuration bounds them. Sessions and owners are not.

interface ServerMetrics extends RuntimeObserver {
  request(entry: AccessEntry): void
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

export function serverMetrics(
  places: () => Pick<TurnPlaces, 'running' | 'waiting'> | undefined,
  deliveries: () => DeliveryCounts = () => ({}),
): ServerMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'troupe_http_requests_total',
    help: 'Requests.',
    labelNames: ['headend', 'method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'troupe_http_request_duration_seconds',
    help: 'Time to the end of the response.',
    labelNames: ['headend', 'route'],
    buckets: seconds,
    registers,
  })
  new Gauge({
    name: 'troupe_requests_running',
    help: 'Turns that requests run now.',
    registers,
    collect() {
      this.set(places()?.running ?? 0)
    },
  })
  new Gauge({
    name: 'troupe_requests_waiting',
    help: 'Requests that wait for a place.',
    registers,
    collect() {
      this.set(places()?.waiting ?? 0)
    },
  })
  new Counter({
    name: 'troupe_webhook_deliveries_total',
    help: 'Attempts to deliver to outgoing webhooks. `dead`: given up.',
    labelNames: ['webhook', 'result'],
    registers,
    collect() {
      this.reset()
      for (const [webhook, counts] of Object.entries(deliveries()))
        for (const [result, count] of Object.entries(counts)) this.inc({ webhook, result }, count)
    },
  })
  return {
    ...sessionMetrics(registers),
    request({ headend = 'none', method, route = 'none', status, durationMs }) {
      requests.inc({ headend, method, route, status: String(status) })
      durations.observe({ headend, route }, durationMs / 1000)
    },
    text: () => registry.metrics(),
  }
}

function sessionMetrics(registers: Registry[]): RuntimeObserver {
  const turns = new Counter({
    name: 'troupe_turns_total',
    help: 'Turns that have ended, children included.',
    labelNames: ['agent', 'status'],
    registers,
  })
  const turnSeconds = new Histogram({
    name: 'troupe_turn_duration_seconds',
    help: 'Working time of turns, without waits for a person.',
    labelNames: ['agent'],
    buckets: seconds,
    registers,
  })
  const steps = new Counter({ name: 'troupe_steps_total', help: 'Model requests.', labelNames: ['model', 'status'], registers })
  const stepSeconds = new Histogram({
    name: 'troupe_step_duration_seconds',
    help: 'Latency of model requests.',
    labelNames: ['model'],
    buckets: seconds,
    registers,
  })
  const tokens = new Counter({ name: 'troupe_tokens_total', help: 'Tokens.', labelNames: ['model', 'type'], registers })
  const paid = new Map<string, number>()
  new Counter({
    name: 'troupe_cost_usd_total',
    help: 'Known cost in US dollars.',
    labelNames: ['model'],
    registers,
    // A counter would add inexactly.
    collect() {
      this.reset()
      for (const [model, usd] of paid) this.inc({ model }, usd)
    },
  })
  const calls = new Counter({ name: 'troupe_tool_calls_total', help: 'Calls of tools.', labelNames: ['tool', 'status'], registers })
  const approvals = new Counter({
    name: 'troupe_approvals_requested_total',
    help: 'Requests to a person.',
    labelNames: ['tool'],
    registers,
  })
  const genAi = genAiMetrics(registers)
  const names = new OpenNames()

  const stored = (event: InteractionEvent): void => {
    switch (event.type) {
      case 'interaction.session.created':
        continued({ ...event, agent: event.agent.name })
        break
      case 'interaction.step.started':
        names.set(keyOf(event, event.stepId), event.modelId)
        break
      case 'interaction.step.completed':
      case 'interaction.step.failed': {
        const model = names.take(keyOf(event, event.stepId))
        steps.inc({ model, status: event.type === 'interaction.step.completed' ? 'completed' : event.failure.class })
        stepSeconds.observe({ model }, event.latencyMs / 1000)
        genAi.inference(model, event)
        tokens.inc({ model, type: 'input' }, event.usage.input)
        tokens.inc({ model, type: 'output' }, event.usage.output)
        if (event.cost !== 'unknown') paid.set(model, addUsd(paid.get(model) ?? 0, event.cost))
        break
      }
      case 'interaction.item.started':
        if (event.item.kind === 'call') names.set(keyOf(event, event.item.id), event.item.tool)
        break
      case 'interaction.item.completed':
        if (event.item.kind === 'call') {
          const tool = names.take(keyOf(event, event.item.id))
          calls.inc({ tool, status: event.item.status })
          genAi.tool(tool, event.item.latencyMs)
        }
        break
      case 'interaction.approval.requested':
        if (event.request.scope !== 'client') approvals.inc({ tool: event.request.tool })
        break
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted': {
        const agent = names.get(keyOf(event, 'agent'))
        turns.inc({ agent, status: event.ending.status })
        const { durationMs, waitedMs = 0 } = event.totals
        const workMs = Math.max(0, durationMs - waitedMs)
        genAi.agent(agent, workMs)
        turnSeconds.observe({ agent }, workMs / 1000)
        break
      }
      default:
    }
  }
  const continued = (session: ContinuedSession): void => names.set(keyOf(session, 'agent'), session.agent)
  return { stored, continued }
}

/** Ids of steps and items are unique in their session only. */
const keyOf = ({ sessionId }: Pick<InteractionEvent, 'sessionId'>, id = ''): string => `${sessionId} ${id}`

const maxNames = 50_000

/** Names by id of what is open. The oldest are forgotten. */
class OpenNames {
  readonly #names = new Map<string, string>()

  set(id: string, name: string): void {
    this.#names.delete(id)
    this.#names.set(id, name)
    if (this.#names.size <= maxNames) return
    const [oldest] = this.#names.keys()
    if (oldest !== undefined) this.#names.delete(oldest)
  }

  get(id: string): string {
    return this.#names.get(id) ?? 'unknown'
  }

  take(id: string): string {
    const name = this.get(id)
    this.#names.delete(id)
    return name
  }
}
