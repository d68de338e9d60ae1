import type { Clock, Records, SessionService } from '../../contracts/index.ts'
import type { Admission } from './admission.ts'
import { authenticate, requireScope } from './authenticate.ts'
import type { Caller } from './caller.ts'
import { HttpError } from './http-error.ts'
import type { OpenStreams } from './open-streams.ts'
import { countRequest } from './rate-limits.ts'
import type { Peer, Route } from './route.ts'
import { scopedSessions } from './scoped-sessions.ts'
import type { TokenRegistry } from './tokens.ts'

export interface EntranceOptions {
  readonly sessions: SessionService
  readonly tokens: TokenRegistry
  /** Counts requests of tokens. */
  readonly records: Records
  readonly clock: Clock
  readonly admission: Admission
  readonly streams: OpenStreams
}

/** Who may enter: token → scope → rate. After `drain`, no turn is started. */
export class Entrance {
  isDraining = false
  readonly #options: EntranceOptions

  constructor(options: EntranceOptions) {
    this.#options = options
  }

  /** `found`: learns of callers that are refused after their token was checked, too. */
  async enter(
    headers: Headers,
    { headend, access, endsWork = false }: Pick<Route, 'headend' | 'access' | 'endsWork'>,
    found: (caller: Caller) => void = () => {},
  ): Promise<Peer> {
    const { tokens, records, clock } = this.#options
    if (access === 'public') return this.#peer(anonymous, headend)
    const { caller, token } = await authenticate(headers, { headend, tokens })
    found(caller)
    requireScope(caller, access)
    await countRequest(caller, { records, clock })
    if (access === 'run' && !endsWork) this.#refuseIfDraining()
    return this.#peer(caller, headend, token)
  }

  #peer(caller: Caller, headend: string, token = ''): Peer {
    const { sessions, admission, streams } = this.#options
    return {
      caller,
      sessions: scopedSessions(sessions, caller),
      concerns() {},
      admit: async (agent, signal) => {
        this.#refuseIfDraining()
        return { release: await admission.enter({ headend, agent, owner: caller.principal.id, signal }) }
      },
      openStream: (connection) => streams.open(caller.principal.id, token, connection),
    }
  }

  #refuseIfDraining(): void {
    if (!this.isDraining) return
    throw new HttpError('unavailable', 'The server is shutting down.', { remedy: 'Try again in a moment.', retryAfterSeconds: 5 })
  }
}

const anonymous: Caller = { principal: { id: 'anonymous', kind: 'person' }, scopes: [], agents: [] }
