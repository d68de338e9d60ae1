import type { Clock, Records, SessionService } from '../../contracts/index.ts'
import { authenticate } from './authenticate.ts'
import { type Caller, isAdmin } from './caller.ts'
import { HttpError } from './http-error.ts'
import type { OpenStreams } from './open-streams.ts'
import type { PublicView } from './public-view.ts'
import { countRequest } from './rate-limits.ts'
import type { Peer, Route } from './route.ts'
import { scopedSessions } from './scoped-sessions.ts'
import { requireScope } from './token-scopes.ts'
import type { TokenRegistry } from './tokens.ts'
import { traceContextOf } from './trace-context.ts'
import type { TurnPlaces } from './turn-places.ts'

interface EntranceOptions {
  readonly sessions: SessionService
  readonly tokens: TokenRegistry
  /** Counts requests of tokens. */
  readonly records: Records
  readonly clock: Clock
  readonly places: TurnPlaces
  readonly view: PublicView
  readonly streams: OpenStreams
  unavailable?(): string | undefined
}

/** Who may enter: token → scope → store → rate. After `drain`, no turn is started. */
export class Entrance {
  isDraining = false
  readonly #options: EntranceOptions
  /** As callers without `admin` see them. */
  readonly #publicSessions: SessionService

  constructor(options: EntranceOptions) {
    this.#options = options
    this.#publicSessions = options.view.sessions(options.sessions)
  }

  /** `found`: learns of callers that are refused after their token was checked, too. */
  async enter(
    headers: Headers,
    { headend, access, endsWork = false }: Pick<Route, 'headend' | 'access' | 'endsWork'>,
    found: (caller: Caller) => void = () => {},
  ): Promise<Peer> {
    const { tokens, records, clock } = this.#options
    if (access === 'public') return this.#peer(anonymous, { headend, headers })
    const { caller, token } = await authenticate(headers, tokens)
    found(caller)
    requireScope(caller, access)
    if (access !== 'read') this.#refuseIfUnavailable()
    await countRequest(caller, { records, clock })
    if (access === 'run' && !endsWork) this.#refuseIfDraining()
    return this.#peer(caller, { headend, headers, token })
  }

  /** Somebody whom the route has authenticated. */
  async enterAs(caller: Caller, headers: Headers, { headend }: Pick<Route, 'headend'>): Promise<Peer> {
    const { records, clock } = this.#options
    this.#refuseIfUnavailable()
    await countRequest(caller, { records, clock })
    this.#refuseIfDraining()
    return this.#peer(caller, { headend, headers })
  }

  #peer(
    caller: Caller,
    { headend, headers, token = '' }: { readonly headend: string; readonly headers: Headers; readonly token?: string },
  ): Peer {
    const { sessions, places, streams, view } = this.#options
    const seesAll = isAdmin(caller)
    return {
      caller,
      sessions: scopedSessions(seesAll ? sessions : this.#publicSessions, caller, traceContextOf(headers)),
      shown: (document) => (seesAll ? document : view.hide(document)),
      concerns() {},
      admit: async (agent, signal) => {
        this.#refuseIfDraining()
        return { release: await places.enter({ headend, agent, owner: caller.principal.id, signal }) }
      },
      openStream: (connection) => streams.open(caller.principal.id, token, connection),
    }
  }

  #refuseIfUnavailable(): void {
    const why = this.#options.unavailable?.()
    if (why !== undefined) throw new HttpError('unavailable', why, { code: 'store_failed', retryAfterSeconds: 5 })
  }

  #refuseIfDraining(): void {
    if (!this.isDraining) return
    throw new HttpError('unavailable', 'The server is shutting down.', { remedy: 'Try again in a moment.', retryAfterSeconds: 5 })
  }
}

const anonymous: Caller = { principal: { id: 'anonymous', kind: 'person' }, scopes: [], agents: [] }
