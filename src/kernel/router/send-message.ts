import { type ApprovalRequest, type InputPart, TroupeError } from '../../contracts/index.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { messageOf } from '../../util/message-of.ts'
import { pause } from '../shared/background-work.ts'
import { type Command, helpText, parseCommand, unknownCommandText } from './commands.ts'
import { agentAt, type Changes, type Conversation, principalIdOf, shortLine, type WaitingMessage, writerOf } from './conversation.ts'
import { stopTask } from './conversation-controls.ts'
import { giveAnswer, refusalOf } from './give-answer.ts'
import { readFiles } from './incoming-files.ts'
import { parseAnswer } from './questions.ts'
import { isUnknownSession, type Reply, type RouterCore } from './router-core.ts'

interface WorkerOptions extends RouterCore {
  readonly signal: AbortSignal
  report(message: string): void
  /** A message has reached the session. */
  sent(): void
}

/** Why no message is sent now. `waiting`: the next one has files, and its channel is not connected. */
export type WorkEnd = 'done' | 'closed' | 'waiting'

const mostAttempts = 5
const retryMs = 1_000

/**
 * Sends the waiting messages of one conversation: to its session, as the answer to its request, or as a command.
 *
 * 1. A message leaves the record when it has taken effect. A crash before that repeats it, and the session takes it once, by its id.
 * 2. While an agent works, a message reaches it at its next step, as in Claude Code and Codex. `/queue` waits for the end of the turn.
 */
export class MessageWorker {
  readonly #key: string
  readonly #options: WorkerOptions

  constructor(key: string, options: WorkerOptions) {
    this.#key = key
    this.#options = options
  }

  /** Sends what waits. Rejects if the store fails. */
  async run(): Promise<WorkEnd> {
    const { conversations, signal, publish, sent } = this.#options
    for (;;) {
      const conversation = conversations.get(this.#key)
      const message = conversation?.waiting[0]
      if (signal.aborted) return 'closed'
      if (!conversation || !message) return 'done'
      const changes = await this.#tryTo(conversation, message)
      if (typeof changes === 'string') return changes
      const sessionId = 'sessionId' in changes ? changes.sessionId : conversation.sessionId
      const { id, text } = message
      if (!message.isTask && text !== '') await publish('user_message', { ...conversation, sessionId }, { id, text, correlationId: id })
      await conversations.update(conversation, ({ waiting }) => ({ ...changes, waiting: waiting.filter((each) => each.id !== id) }))
      sent()
    }
  }

  /** `closed`: the message is sent by the next process. */
  async #tryTo(conversation: Conversation, message: WaitingMessage): Promise<Changes | Exclude<WorkEnd, 'done'>> {
    const { clock, signal, report } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#handle(conversation, message)
      } catch (error) {
        if (signal.aborted || (error instanceof TroupeError && error.code === 'runtime_closed')) return 'closed'
        const isFinal = attempt === mostAttempts || (error instanceof TroupeError && !error.retry)
        if (isFinal) {
          report(`A message could not be sent: ${messageOf(error)}`)
          const remedy = error instanceof TroupeError && error.remedy !== undefined ? ` ${error.remedy}` : ''
          const text = `Your message could not be sent. ${messageOf(error)}${remedy}`
          return this.#reply(conversation, message, { kind: 'error', text })
        }
        await pause({ clock, signal, ms: retryMs * 2 ** (attempt - 1) })
      }
    }
  }

  async #handle(conversation: Conversation, message: WaitingMessage): Promise<Changes | 'waiting'> {
    if (message.isTask) return this.#sendTask(conversation, message)
    if (message.answer) return this.#answer(conversation, { ...message, answer: message.answer })
    const command = parseCommand(message.text)
    if (command) return this.#command(conversation, message, command)
    const request = await this.#askedRequest(conversation)
    if (message.files) return this.#sendWithFiles(conversation, message, request !== undefined)
    if (!request) return this.#send(conversation, message, 'steer')
    const decision = parseAnswer(message.text, request)
    if (typeof decision === 'string') return this.#reply(conversation, message, { text: decision })
    const refused = refusalOf(conversation, message, { ...this.#options, decision })
    if (refused !== undefined) return this.#refuse(conversation, message, refused)
    const answer = { approvalId: request.id, decision }
    // Without this, a crash would leave open whether it was the answer or a message.
    await this.#options.conversations.update(conversation, ({ waiting }) => ({
      waiting: waiting.map((each) => (each.id === message.id ? { ...each, answer } : each)),
    }))
    return this.#answer(conversation, { ...message, answer })
  }

  /** The open request, if the person has seen it. */
  async #askedRequest({ sessionId, asked }: Conversation) {
    const asking = this.#options.conversations.asking.get(this.#key)
    if (sessionId === undefined || (asked === undefined && asking === undefined)) return undefined
    return (await this.#requests(sessionId)).find(({ id }) => id === asked || id === asking)
  }

  async #answer(conversation: Conversation, message: Parameters<typeof giveAnswer>[1]): Promise<Changes> {
    const problem = await giveAnswer(conversation, message, this.#options)
    return problem === undefined ? {} : this.#refuse(conversation, message, problem)
  }

  /** Files are not an answer: they are read when the request is answered. */
  async #sendWithFiles(conversation: Conversation, message: WaitingMessage, isAsked: boolean): Promise<Changes | 'waiting'> {
    const changes = await this.#send(conversation, message, 'steer')
    if (isAsked && changes !== 'waiting') await this.#reply(conversation, { ...message, id: `${message.id}:asked` }, { text: asksFirst })
    return changes
  }

  async #send(conversation: Conversation, message: WaitingMessage, mode: 'queue' | 'steer'): Promise<Changes | 'waiting'> {
    const { sessions, scope } = this.#options
    const { sessionId, channel, number } = conversation
    const { id, isTask } = message
    const input = await this.#inputOf(conversation, message)
    if (input === 'waiting') return input
    if (sessionId !== undefined) {
      try {
        // A task is for the orchestrator, also while another agent has the conversation.
        const to = isTask && conversation.speaker !== undefined ? { to: sessionId } : {}
        await sessions.send(sessionId, input, { clientId: id, mode, ...to })
        return isTask ? {} : { sent: id }
      } catch (error) {
        if (wasSentBefore(error, message)) return isTask ? {} : { sent: id }
        // It was deleted: a new one begins.
        if (!isUnknownSession(error)) throw error
      }
    }
    const { id: ownerId, name } = message.from ?? conversation.owner ?? writerOf(conversation, message)
    const owner = { id: ownerId, ...(name !== undefined && { name }) }
    const principal = { ...owner, id: principalIdOf(conversation, owner), kind: 'person' } as const
    const key = `${scope}${this.#key}#${number}`
    const { agent = orchestratorName } = message
    const begun = { ...fresh, owner, ...(agent !== orchestratorName && { agent }), ...(!isTask && { sent: id }) }
    try {
      return { ...begun, sessionId: await sessions.start(input, { agent, principal, clientId: id, key, labels: [`channel:${channel}`] }) }
    } catch (error) {
      const before = wasSentBefore(error, message) ? await sessions.find(key) : undefined
      if (!before) throw error
      return { ...begun, sessionId: before.sessionId }
    }
  }

  /** With who wrote it, unless that is the owner of the session, and with the files. */
  async #inputOf(conversation: Conversation, message: WaitingMessage): Promise<string | readonly InputPart[] | 'waiting'> {
    const { id, name } = message.from ?? {}
    const { sessionId, owner } = conversation
    const isOther = sessionId !== undefined && id !== undefined && id !== (owner?.id ?? conversation.userId)
    const head = isOther ? `${name === undefined ? id : `${name} (${id})`} writes:\n` : ''
    const text = `${head}${message.text}`
    if (!message.files) return text
    const channel = this.#options.channelOf(conversation.channel)
    if (!channel) return 'waiting'
    const { clock } = this.#options
    const signal = AbortSignal.any([this.#options.signal, channel.removed])
    const read = await readFiles(message.files, { channel, clock, signal })
    if (!read) return 'waiting'
    if (read.problems.length > 0) await this.#refuse(conversation, { ...message, id: `${message.id}:files` }, read.problems.join('\n'))
    return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...read.parts]
  }

  /** It waits for the turn. The person is told if that needs them: nobody else ends the wait. */
  async #sendTask(conversation: Conversation, message: WaitingMessage): Promise<Changes | 'waiting'> {
    const { speaker, tasks = [] } = conversation
    const needsAnswer = speaker === undefined && (await this.#hasRequest(conversation))
    const waitsFor = needsAnswer
      ? 'you have answered the request'
      : speaker && `${agentAt(speaker)} has ended its conversation with you; /back ends it now`
    const shown = tasks.find(({ id }) => id === message.id)?.text ?? `Scheduled task: ${shortLine(message.text)}`
    if (waitsFor !== undefined) await this.#reply(conversation, message, { text: `${shown}\nIt begins when ${waitsFor}.` })
    return this.#send(conversation, message, 'queue')
  }

  async #hasRequest({ sessionId }: Conversation): Promise<boolean> {
    return sessionId !== undefined && (await this.#requests(sessionId)).length > 0
  }

  /** None if the session was deleted. */
  async #requests(sessionId: string): Promise<readonly ApprovalRequest[]> {
    try {
      return await this.#options.sessions.requests(sessionId)
    } catch (error) {
      if (isUnknownSession(error)) return []
      throw error
    }
  }

  async #command(conversation: Conversation, message: WaitingMessage, { name, rest }: Command): Promise<Changes | 'waiting'> {
    const { sessionId = '', number } = conversation
    const root = agentAt('root', sessionId === '' ? message.agent : conversation.agent)
    const speaker = conversation.speaker && agentAt(conversation.speaker)
    const say = (text: string): Promise<Changes> => this.#reply(conversation, message, { text })
    if (message.files && name !== 'queue' && name !== 'unknown')
      return say(`/${name} takes no files, and had no effect. Send the files with a message.`)
    switch (name) {
      case 'queue':
        if (rest.trim() === '' && !message.files) return say('Write the message after the command: /queue MESSAGE')
        return this.#send(conversation, { ...message, text: rest }, 'queue')
      case 'who':
        return say(`You are talking to ${speaker === undefined ? root : `${speaker}. /back returns to ${root}`}.`)
      case 'back':
        if (speaker === undefined) return say(`You are talking to ${root} already.`)
        await this.#options.sessions.send(sessionId, '/back', { clientId: message.id, endsHandoff: true })
        return {}
      case 'stop':
        return (await this.#stop(conversation, message)) ? {} : say('No task is running.')
      case 'new':
        await this.#stop(conversation, message)
        if (conversation.shown !== undefined) await this.#options.closeRequest(conversation, { id: conversation.shown, outcome: 'ended' })
        await say('A new conversation begins with your next message.')
        return { ...fresh, sessionId: undefined, number: number + 1, notices: [] }
      case 'help':
        return say(helpText)
      case 'unknown':
        return say(unknownCommandText(message.text))
      default:
        return name satisfies never
    }
  }

  /** Of interest to the person who wrote the message. */
  #refuse(conversation: Conversation, message: WaitingMessage, text: string): Promise<Changes> {
    return this.#reply(conversation, message, { text, onlyFor: message.from?.id })
  }

  async #reply(conversation: Conversation, { id }: WaitingMessage, reply: Pick<Reply, 'text'> & Partial<Reply>): Promise<Changes> {
    await this.#options.reply(conversation, { id, kind: 'notice', ...reply })
    return {}
  }

  async #stop(conversation: Conversation, message: WaitingMessage): Promise<boolean> {
    const { sessions } = this.#options
    const { sessionId = '' } = conversation
    const entry = sessionId === '' ? undefined : await sessions.get(sessionId)
    return entry !== undefined && stopTask(sessions, entry, principalIdOf(conversation, writerOf(conversation, message)))
  }
}

const asksFirst = 'The agent reads your files when the open request is answered.'

/** A file that is read again may be another one than before the crash. */
const wasSentBefore = (error: unknown, { files }: WaitingMessage): boolean =>
  files !== undefined && error instanceof TroupeError && error.code === 'client_id_taken'

/** For the next session of a conversation. */
const fresh = {
  delivered: 0,
  owner: undefined,
  agent: undefined,
  turnFrom: undefined,
  sent: undefined,
  asked: undefined,
  shown: undefined,
  speaker: undefined,
  said: undefined,
  heard: undefined,
}
