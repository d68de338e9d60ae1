import { type Signal, signal } from '@preact/signals'
import type { ModelRequest } from '../../contracts/index.ts'
import { ApiError } from '../api/http.ts'
import { sentenceOf } from './actions.ts'
import type { Page } from './page.ts'
import type { SessionStore } from './session-store.ts'

// What models were sent. A request may have megabytes, so only the last few are kept.

export type RequestState =
  | { readonly kind: 'loading' }
  /** `before`: the request of the step before, if there was one and it was recorded. */
  | { readonly kind: 'ready'; readonly request: ModelRequest; readonly before: ModelRequest | undefined }
  /** An older version of Troupe recorded the step without its tools. */
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | undefined }

/** A model request of a session. */
export interface RequestPlace {
  /** The session of the agent: of a child, another one than the session that is shown. */
  readonly sessionId: string
  readonly stepId: string
  /** Default: the last one. */
  readonly attempt?: number | undefined
  /** So many attempts are known: another one makes another request the last. */
  readonly attempts: number
}

interface RequestPlaces {
  readonly place: RequestPlace
  /** The place of the step before, if there is one. */
  readonly before: RequestPlace | undefined
}

interface Kept {
  readonly states: Map<string, Signal<RequestState>>
  readonly requests: Map<string, Promise<ModelRequest>>
}

const maxKept = 6
const kept = new WeakMap<SessionStore, Kept>()

/** The request at a place, and the one before it. It is read once. */
export function modelRequest(page: Page, store: SessionStore, places: RequestPlaces): Signal<RequestState> {
  const known = kept.get(store) ?? { states: new Map(), requests: new Map() }
  kept.set(store, known)
  const key = keyOf(places.place)
  const found = known.states.get(key)
  if (found) return found
  const state = signal<RequestState>({ kind: 'loading' })
  keep(known.states, key, state)
  void load(page, store, { known, ...places }).then((next) => {
    state.value = next
    // A failure is tried again when it is asked for again.
    if (next.kind === 'failed') known.states.delete(key)
  })
  return state
}

interface Loading extends RequestPlaces {
  readonly known: Kept
}

async function load({ http }: Page, { id }: SessionStore, { known, place, before }: Loading): Promise<RequestState> {
  const read = (at: RequestPlace): Promise<ModelRequest> => {
    const key = keyOf(at)
    const reading = known.requests.get(key) ?? http.get<ModelRequest>(addressOf(id, at))
    keep(known.requests, key, reading)
    reading.catch(() => known.requests.delete(key))
    return reading
  }
  try {
    const request = await read(place)
    // What is new is marked if it can be known.
    return { kind: 'ready', request, before: before && (await read(before).catch(() => undefined)) }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'request_not_recorded') return { kind: 'unrecorded' }
    return { kind: 'failed', message: sentenceOf(error), remedy: error instanceof ApiError ? error.remedy : undefined }
  }
}

const keyOf = ({ sessionId, stepId, attempt, attempts }: RequestPlace): string =>
  `${sessionId}/${stepId}~${attempt ?? `last of ${attempts}`}`

function addressOf(id: string, { sessionId, stepId, attempt }: RequestPlace): string {
  const query = new URLSearchParams({ session: sessionId, step: stepId, ...(attempt !== undefined && { attempt: String(attempt) }) })
  return `/v1/sessions/${id}/model-request?${query}`
}

function keep<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.delete(key)
  values.set(key, value)
  for (const old of [...values.keys()].slice(0, -maxKept)) values.delete(old)
}
