import type {
  AgentSpec,
  InteractionEvent,
  Json,
  Outcome,
  RunOrigin,
  SessionEntry,
  SessionExport,
  SessionService,
  StreamEvent,
} from '../../contracts/index.ts'
import { type PathHider, pathHider } from '../../util/hide-paths.ts'

// What callers without `admin` see of a session: no prompts, and no absolute paths of the machine.
//
// 1. What people and agents say is not changed. Everything else is: requests, arguments, results, diagnostics.
// 2. An object that contains nothing of it is returned as it is. Others are copied once for all readers.

/** Folders of the machine by the names that are shown instead. */
export interface HiddenFolders {
  readonly [shown: string]: string
}

export class PublicView {
  readonly #hider: PathHider
  readonly #known = new WeakMap<object, object>()
  readonly #events = new WeakMap<StreamEvent, StreamEvent>()

  constructor(folders: HiddenFolders = {}) {
    this.#hider = pathHider(folders)
  }

  text(text: string): string {
    return this.#hider.text(text)
  }

  /** For texts that come back. */
  reveal(text: string): string {
    return this.#hider.reveal(text)
  }

  hide<Value extends object>(value: Value): Value {
    return once(this.#known, value, () => this.#hidden(value))
  }

  event<Event extends StreamEvent>(event: Event): Event {
    return once(this.#events, event, () => this.#event(event)) as Event
  }

  entry(entry: SessionEntry): SessionEntry {
    return entry.workspace === undefined ? entry : { ...entry, workspace: lastName(entry.workspace) }
  }

  outcome({ report, snapshot, ...rest }: Outcome): Outcome {
    const { selectedAgent } = snapshot
    return {
      ...this.#hidden(rest),
      ...(report && { report }),
      snapshot: { ...this.#hidden(snapshot), selectedAgent: this.#agent(selectedAgent) },
    }
  }

  export({ session, events, blobs, ...rest }: SessionExport): SessionExport {
    return { ...rest, session: this.entry(session), events: events.map((event) => this.event(event)), blobs: this.#hidden(blobs) }
  }

  /** What another service reads, as callers without `admin` see it. */
  sessions(service: SessionService): SessionService {
    return {
      ...service,
      events: (sessionId, options) => mapped(service.events(sessionId, options), (event) => this.event(event)),
      watch: (filter) =>
        mapped(service.watch(filter), (change) =>
          change.kind === 'changed' ? once(this.#known, change, () => ({ ...change, session: this.entry(change.session) })) : change,
        ),
      requests: async (sessionId) => (await service.requests(sessionId)).map((request) => this.hide(request)),
      approve: async (sessionId, { decision, ...answer }) => {
        const key = decision.kind === 'approve' && decision.key !== undefined && { key: this.reveal(decision.key) }
        return this.hide(await service.approve(sessionId, { ...answer, decision: { ...decision, ...key } }))
      },
      outcome: async (sessionId) => this.outcome(await service.outcome(sessionId)),
      get: async (sessionId) => this.#entryOrNone(await service.get(sessionId)),
      find: async (key) => this.#entryOrNone(await service.find(key)),
      list: async (filter) => (await service.list(filter)).map((entry) => this.entry(entry)),
      update: async (sessionId, changes) => this.entry(await service.update(sessionId, changes)),
      export: async (sessionId) => this.export(await service.export(sessionId)),
      output: async (sessionId, handle) => {
        const output = await service.output(sessionId, handle)
        return output && 'text' in output ? { text: this.text(output.text) } : output
      },
      agents: () => service.agents().map((agent) => this.hide(agent)),
    }
  }

  #entryOrNone(entry: SessionEntry | undefined): SessionEntry | undefined {
    return entry && this.entry(entry)
  }

  #event(event: StreamEvent): StreamEvent {
    switch (event.type) {
      case 'interaction.input.accepted':
      case 'interaction.history.added':
        return event
      case 'interaction.item.delta':
        return event.kind === 'text' || event.kind === 'reasoning' ? event : { ...event, text: this.text(event.text) }
      case 'interaction.item.started':
      case 'interaction.item.completed':
        return event.item.kind === 'text' ? event : this.#hidden(event)
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted': {
        const { report, ...rest } = event
        return { ...this.#hidden(rest), ...(report && { report }) } as InteractionEvent
      }
      case 'interaction.session.created': {
        const { origin, agent, ...rest } = event
        return { ...this.#hidden(rest), agent: this.#agent(agent), ...(origin && { origin: publicOrigin(origin) }) }
      }
      case 'interaction.session.configured':
        return { ...this.#hidden(event), agent: this.#agent(event.agent) }
      case 'interaction.context.added':
        return { ...this.#hidden(event), text: '' }
      // They repeat the history, with the context in it.
      case 'interaction.context.compacted':
        return { ...this.#hidden(event), messages: [] }
      default:
        return this.#hidden(event)
    }
  }

  #agent(agent: AgentSpec): AgentSpec {
    return { ...this.#hidden(agent), prompt: '' }
  }

  #hidden<Value extends object>(value: Value): Value {
    return this.#hider.json(value as unknown as Json) as unknown as Value
  }
}

function once<Value extends object>(known: WeakMap<object, object>, value: Value, change: () => Value): Value {
  const changed = known.get(value) ?? change()
  known.set(value, changed)
  return changed as Value
}

const publicOrigin = ({ workspace, command }: RunOrigin): RunOrigin => ({
  workspace: lastName(workspace),
  ...(command !== undefined && { command }),
})

const lastName = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== '') ?? ''

function mapped<From, To>(source: AsyncIterable<From>, change: (item: From) => To): AsyncIterable<To> {
  return {
    [Symbol.asyncIterator]() {
      const inner = source[Symbol.asyncIterator]()
      const shown = ({ done, value }: IteratorResult<From>): IteratorResult<To> =>
        done ? { done, value: undefined } : { done: false, value: change(value) }
      return {
        next: async () => shown(await inner.next()),
        async return() {
          await inner.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
