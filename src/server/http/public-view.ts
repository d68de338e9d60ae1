import type {
  AgentSpec,
  ContinuesElsewhere,
  InteractionEvent,
  Json,
  Receipt,
  SessionEntry,
  SessionService,
  StreamEvent,
} from '../../contracts/index.ts'
import { type PathHider, pathHider } from '../../util/hide-paths.ts'
import { mapItems } from '../../util/map-items.ts'
import { HttpError } from './http-error.ts'

/** Folders of the machine by the names that are shown instead. */
export interface HiddenFolders {
  readonly [shown: string]: string
}

/**
 * What callers without `admin` see: no prompts, and no absolute paths of the machine.
 *
 * 1. What people and agents say is not changed. Everything else is: requests, arguments, results, diagnostics.
 * 2. An object without any of it is returned as it is. Others are copied once for all readers.
 */
export class PublicView {
  readonly #paths: PathHider
  readonly #known = new WeakMap<object, object>()
  readonly #events = new WeakMap<object, object>()

  constructor(folders: HiddenFolders = {}) {
    this.#paths = pathHider(folders)
  }

  hide<Value extends object>(value: Value): Value {
    return once(this.#known, value, () => this.#hidden(value))
  }

  event<Event extends StreamEvent>(event: Event): Event {
    return once(this.#events, event, () => this.#event(event) as Event)
  }

  /** The sessions of a service as they are seen. Keys of requests may come back: then they are those of the request again. */
  sessions(service: SessionService): SessionService {
    const event = <Event extends StreamEvent>(each: Event): Event => this.event(each)
    return {
      ...service,
      events: (id, options) => mapItems(service.events(id, options), event),
      watch: (filter) =>
        mapItems(service.watch(filter), (change) =>
          change.kind === 'changed' ? { ...change, session: publicEntry(change.session) } : change,
        ),
      requests: async (id) => (await service.requests(id)).map((request) => this.hide(request)),
      approve: async (id, { decision, ...answer }) => {
        const key = decision.kind === 'approve' && decision.key !== undefined && { key: this.#paths.reveal(decision.key) }
        return publicReceipt(this.hide(await service.approve(id, { ...answer, decision: { ...decision, ...key } })))
      },
      send: async (id, input, options) => publicReceipt(await service.send(id, input, options)),
      revoke: async (id, keys, by) => publicReceipt(await service.revoke(id, keys, by)),
      cancel: async (id, mode, by) => publicReceipt(await service.cancel(id, mode, by)),
      sendHeld: async (id, by) => publicReceipt(await service.sendHeld(id, by)),
      outcome: async (id) => {
        const { report, snapshot, ...rest } = await service.outcome(id)
        const own = { ...snapshot, selectedAgent: this.#agent(snapshot.selectedAgent), skills: [], history: [], state: {} }
        return { ...this.#hidden(rest), ...(report && { report }), snapshot: own }
      },
      get: async (id) => entryOrNone(await service.get(id)),
      find: async (key) => entryOrNone(await service.find(key)),
      list: async (filter) => (await service.list(filter)).map(publicEntry),
      update: async (id, changes) => publicEntry(await service.update(id, changes)),
      export: async (id) => {
        const { session, events, blobs, ...rest } = await service.export(id)
        return { ...rest, session: publicEntry(session), events: events.map(event), blobs: this.#hidden(blobs) }
      },
      output: async (id, handle) => {
        const output = await service.output(id, handle)
        return output && 'text' in output ? this.#hidden(output) : output
      },
      modelRequest: () => Promise.reject(promptsHidden('model requests')),
      agentSetup: () => Promise.reject(promptsHidden('agents')),
      agents: () => service.agents().map((agent) => this.hide(agent)),
    }
  }

  #event(event: StreamEvent): StreamEvent {
    switch (event.type) {
      case 'interaction.input.accepted':
      case 'interaction.history.added':
        return event
      case 'interaction.item.delta':
        return event.kind === 'text' || event.kind === 'reasoning' ? event : this.#hidden(event)
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
        // Without the file and the flags.
        const from = origin && { workspace: lastName(origin.workspace), ...(origin.command !== undefined && { command: origin.command }) }
        return { ...this.#hidden(rest), agent: this.#agent(agent), ...(from && { origin: from }) }
      }
      case 'interaction.session.configured':
        return { ...this.#hidden(event), agent: this.#agent(event.agent) }
      case 'interaction.context.added':
        return { ...this.#hidden(event), text: '' }
      // Instructions and descriptions of tools are prompts.
      case 'interaction.offer.recorded':
        return { ...event, tools: [], instructions: '' }
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
    return this.#paths.json(value as unknown as Json) as unknown as Value
  }
}

function once<Value extends object>(known: WeakMap<object, object>, value: Value, change: () => Value): Value {
  const changed = known.get(value) ?? change()
  known.set(value, changed)
  return changed as Value
}

/** What a model was sent contains the prompt of its agent. */
export const promptsHidden = (of: 'model requests' | 'agents'): HttpError =>
  new HttpError('forbidden', `This token has no permission to read ${of === 'agents' ? 'prompts of agents' : of}.`, {
    remedy: 'Use a token with the scope admin.',
  })

const lastName = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== '') ?? ''

/** Commands and folders are for the person who runs the server. */
const notHere: ContinuesElsewhere = { here: false, reason: 'Only a person at the machine of the server can continue it.' }
const publicEntry = ({ workspace, ...entry }: SessionEntry): SessionEntry => ({
  ...entry,
  ...(workspace !== undefined && { workspace: lastName(workspace) }),
  ...(entry.continue?.here === false && { continue: notHere }),
})
const publicReceipt = (receipt: Receipt): Receipt => (receipt.continue ? { ...receipt, continue: notHere } : receipt)
const entryOrNone = (entry: SessionEntry | undefined): SessionEntry | undefined => entry && publicEntry(entry)
