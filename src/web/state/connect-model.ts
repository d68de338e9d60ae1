import type { ConnectedKey, ModelOffer, ProviderList, ServerStatus } from '../api/documents.ts'
import { ApiError } from '../api/http.ts'
import { chooseDemoModel, sentenceOf } from './actions.ts'
import { openDraft } from './drafts.ts'
import type { Page } from './page.ts'

// Models that a person connects. A key is sent once, and kept nowhere in the page.

/** The model answers as it was recorded. */
export const recordedModel = 'recorded'

/** Whether agents need a model and none can be used. Unknown on other machines than that of the server. */
export const needsModel = (status: ServerStatus | undefined): boolean =>
  status?.connect !== undefined && status.connect.missing.length > 0 && status.connect.models.length === 0

/** Models besides those of the agent that this person may choose. */
export const offeredModels = ({ value: status }: Page['status']): readonly ModelOffer[] => {
  if (status?.demo) return status.scopes.includes('admin') ? status.demo.offers : []
  return status?.connect?.models ?? []
}

/** Looks for models again. What the page knows of them is up to date afterwards. */
export async function findModels(page: Page): Promise<ProviderList> {
  const found = await page.http.get<ProviderList>('/v1/providers')
  page.status.value = await page.http.get<ServerStatus>('/v1/status')
  return found
}

interface KeyOwner {
  /** Absent: the server does not know the provider by name. */
  readonly name?: string
  readonly label: string
}

export type KeyOutcome =
  | { readonly kind: 'connected'; readonly connected: ConnectedKey }
  | {
      readonly kind: 'refused'
      readonly message: string
      readonly remedy: string | undefined
      /** The provider that the key seems to be of. */
      readonly owner: KeyOwner | undefined
    }

interface PastedKey {
  readonly key: string
  readonly provider?: string | undefined
  readonly anyway?: boolean | undefined
}

export async function connectKey(page: Page, { key, provider, anyway }: PastedKey): Promise<KeyOutcome> {
  try {
    const body = { key, ...(provider !== undefined && { provider }), ...(anyway && { anyway }) }
    const connected = await page.http.post<ConnectedKey>('/v1/providers/key', body)
    page.status.value = await page.http.get<ServerStatus>('/v1/status')
    return { kind: 'connected', connected }
  } catch (error) {
    const known = error instanceof ApiError ? error : undefined
    return { kind: 'refused', message: sentenceOf(error), remedy: known?.remedy, owner: known?.details.owner as KeyOwner | undefined }
  }
}

/** For the next new session; in the demonstration for all agents. */
export async function useModel(page: Page, model: string): Promise<void> {
  if (page.status.value?.demo && !(await chooseDemoModel(page, model))) return
  if (!page.status.value?.demo) {
    const draft = openDraft('new')
    draft.value = { ...draft.value, settings: { ...draft.value.settings, model } }
  }
  page.go({
    view: 'new',
    ...(page.settings.value.lastAgent !== '' && !page.status.value?.demo && { agent: page.settings.value.lastAgent }),
  })
}

/** `anthropic/claude-sonnet-5` → `claude-sonnet-5`. */
export const shortModel = (model: string): string => (model.startsWith('script/') ? model : (model.split('/').at(-1) ?? model))
