import type { ActionEvent, AppHomeOpenedEvent, Author, Chat, ModalResponse, ModalSubmitEvent } from 'chat'
import type { RequestAnswer } from 'troupe/extension'
import { actions, closedText, codeBlock, cut } from '../outgoing/request-card.ts'
import type { StoredRequest } from '../state/requests.ts'
import { formContent, forms, requestForm } from './form-fields.ts'
import { homePage } from './home-page.ts'
import { type Actor, type IncomingEvents, type IncomingOptions, linkOf } from './incoming-events.ts'

type Pressed = Pick<ActionEvent, 'actionId' | 'triggerId' | 'messageId' | 'raw'>

const breadths = new Map<string, keyof typeof actions.allow>([
  [actions.allow.once, 'once'],
  [actions.allow.session, 'session'],
  [actions.allow.project, 'project'],
])
const longestDetails = 9_000
const notStored = 'This was not stored. Try again.'
const tooOld = 'This request is too old, and your answer had no effect. Open requests are in the web chat.'

/** Buttons, forms and the home page. */
export class ButtonEvents {
  readonly #options: IncomingOptions
  readonly #events: IncomingEvents

  constructor(options: IncomingOptions, events: IncomingEvents) {
    this.#options = options
    this.#events = events
  }

  listen(chat: Chat): void {
    chat.onAction((event) => this.#pressed(event))
    chat.onModalSubmit(Object.values(forms), (event) => this.#submitted(event))
    chat.onAppHomeOpened((event) => this.#homeOpened(event))
  }

  async #pressed(event: ActionEvent): Promise<void> {
    const { requests, platform } = this.#options
    const { actionId, value, user, raw, threadId } = event
    const stored = isOfRequest(actionId) ? requests.withKey(value ?? '') : undefined
    const isHome = threadId === ''
    const thread = stored?.thread ?? (isHome ? (value ?? '') : threadId)
    if (thread === '' || !known(actionId)) return
    const actor = await this.#events.actor({ thread, author: user, raw })
    if (!actor) return
    if (stored) await this.#answer(actor, stored, event)
    else if (isOfRequest(actionId)) await platform.tell({ thread, person: user.userId, raw }, tooOld)
    else await this.#control(actor, event)
    if (isHome) await this.#showHome(user, stored?.request.id)
  }

  async #answer(actor: Actor, stored: StoredRequest, pressed: Pressed): Promise<void> {
    const { platform } = this.#options
    const { request, closed } = stored
    const { actionId, triggerId } = pressed
    const tell = (text: string): Promise<void> => platform.tell({ thread: actor.thread, person: actor.user, raw: pressed.raw }, text)
    if (closed) return tell(closedText(closed))
    if (breadths.has(actionId) && !this.#mayApprove(actor))
      return tell('You may not approve here. People who may are set as `approvers`. You can deny it.')
    if (actionId === actions.denyWhy || actionId === actions.form) {
      const form = requestForm(actionId === actions.form ? 'fields' : 'reason', stored)
      if (triggerId !== undefined) await platform.adapter.openModal?.(triggerId, form)
      return
    }
    const answer = answerOf(request.id, actionId, request.options)
    if (answer) await this.#events.handIn(actor, { text: '', messageId: `button/${triggerId ?? pressed.messageId}/${actionId}`, answer })
  }

  async #submitted({ callbackId, privateMetadata = '', values, user, viewId, raw }: ModalSubmitEvent): Promise<ModalResponse | undefined> {
    const stored = this.#options.requests.withKey(privateMetadata)
    const actor = stored && (await this.#events.actor({ thread: stored.thread, author: user, raw }))
    if (!stored || !actor) return undefined
    const { id: requestId } = stored.request
    const { reason = '' } = values
    const content = formContent(stored.request, values)
    const answer: RequestAnswer =
      callbackId === forms.reason
        ? { requestId, kind: 'deny', ...(reason !== '' && { reason }) }
        : { requestId, kind: 'answer', text: JSON.stringify(content), content }
    try {
      await this.#events.handIn(actor, { text: '', messageId: `form/${viewId}`, answer })
      return undefined
    } catch {
      // Chat SDK would close the form.
      return { action: 'errors', errors: { [Object.keys(values)[0] ?? 'reason']: notStored } }
    }
  }

  /** Buttons of a conversation. */
  async #control({ thread, user }: Actor, { actionId, raw }: Pressed): Promise<void> {
    const { context, platform, output } = this.#options
    const { conversations } = context
    const tell = (text: string): Promise<void> => platform.tell({ thread, person: user, raw }, text)
    if (!conversations) return
    const at = { userId: thread, by: `${platform.name}:${user}` }
    switch (actionId) {
      case actions.stop:
        return (await conversations.stop(at)) ? undefined : tell('Nothing is running.')
      case actions.retry:
        return (await conversations.retry(at)) ? undefined : tell('There is nothing to send again, or a task is running.')
      case actions.details:
        return tell(codeBlock(cut(await conversations.details(at), longestDetails)))
      case actions.export: {
        const file = await conversations.export(at)
        return file ? output.sendFile(thread, file) : tell('Only the person who began this conversation can export it.')
      }
      default:
    }
  }

  async #homeOpened({ userId, tab = 'home' }: AppHomeOpenedEvent & { readonly tab?: string }): Promise<void> {
    if (tab === 'home') await this.#showHome({ userId, userName: userId, fullName: userId, isBot: false, isMe: false })
  }

  /** `answered`: the request that the person has just answered. */
  async #showHome({ userId }: Author, answered?: string): Promise<void> {
    const { context, platform, requests } = this.#options
    const open = (await context.conversations?.open(`${platform.name}:${userId}`)) ?? []
    const own = open.filter((conversation) => this.#events.isAllowed(conversation.userId, userId))
    const entries = own.map(({ request, ...conversation }) => ({
      ...conversation,
      link: linkOf(context, conversation.userId),
      stored: request && request.id !== answered ? requests.add(conversation.userId, request, context.now()) : undefined,
    }))
    await platform.showHome?.(userId, homePage(entries, platform.adapter.openModal !== undefined))
  }

  #mayApprove({ user }: Actor): boolean {
    const { platform, access } = this.#options
    return access.mayApprove(`${platform.name}:${user}`)
  }
}

const controls: readonly string[] = [actions.stop, actions.retry, actions.details, actions.export]
const ofRequest: readonly string[] = [actions.deny, actions.denyWhy, actions.form, actions.done, ...breadths.keys()]
const isOfRequest = (id: string): boolean => ofRequest.includes(id) || id.startsWith(actions.option)
const known = (id: string): boolean => isOfRequest(id) || controls.includes(id)

function answerOf(requestId: string, actionId: string, options: readonly string[] = []): RequestAnswer | undefined {
  const breadth = breadths.get(actionId)
  if (breadth) return { requestId, kind: 'allow', breadth }
  if (actionId === actions.deny) return { requestId, kind: 'deny' }
  if (actionId === actions.done) return { requestId, kind: 'answer', text: 'Done' }
  const option = options[Number(actionId.slice(actions.option.length))]
  return option === undefined ? undefined : { requestId, kind: 'answer', text: option }
}
