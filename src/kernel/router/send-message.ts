import { type ApprovalRequest, TroupeError } from '../../contracts/index.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { messageOf } from '../../util/message-of.ts'
import { pause } from '../shared/background-work.ts'
import { type Command, helpText, parseCommand, unknownCommandText } from './commands.ts'
import { agentAt, type Changes, type Conversation, shortLine, type WaitingMessage } from './conversation.ts'
import { stopTask } from './conversation-controls.ts'
import { parseAnswer } from './questions.ts'
import { isUnknownSession, type RouterCore } from './router-core.ts'

interface WorkerOptions extends RouterCore {
  readonly signal: AbortSignal
  report(message: string): void
  /** A message has reached the session. */
  sent(): void
}

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

  /** `true`: no message waits any more. `false`: the service was closed. Rejects if the store fails. */
  async run(): Promise<boolean> {
    const { conversations, signal, publish, sent } = this.#options
    for (;;) {
      const conversation = conversations.get(this.#key)
      const message = conversation?.waiting[0]
      if (signal.aborted) return false
      if (!conversation || !message) return true
      const changes = await this.#tryTo(conversation, message)
      if (!changes) return false
      const sessionId = 'sessionId' in changes ? changes.sessionId : conversation.sessionId
      const { id, text } = message
      if (!message.isTask) await publish('user_message', { ...conversation, sessionId }, { id, text, correlationId: id })
      await conversations.update(conversation, ({ waiting }) => ({ ...changes, waiting: waiting.filter((each) => each.id !== id) }))
      sent()
    }
  }

  /** `undefined`: the service was closed. The message is sent by the next process. */
  async #tryTo(conversation: Conversation, message: WaitingMessage): Promise<Changes | undefined> {
    const { clock, signal, report, reply } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#handle(conversation, message)
      } catch (error) {
        if (signal.aborted || (error instanceof TroupeError && error.code === 'runtime_closed')) return undefined
        // Somebody answered the request elsewhere.
        if (error instanceof TroupeError && error.code === 'approval_answered') return this.#reply(conversation, message, error.message)
        const isFinal = attempt === mostAttempts || (error instanceof TroupeError && !error.retry)
        if (isFinal) {
          report(`A message could not be sent: ${messageOf(error)}`)
          const remedy = error instanceof TroupeError && error.remedy !== undefined ? ` ${error.remedy}` : ''
          const text = `Your message could not be sent. ${messageOf(error)}${remedy}`
          await reply(conversation, { id: message.id, kind: 'error', text })
          return {}
        }
        await pause({ clock, signal, ms: retryMs * 2 ** (attempt - 1) })
      }
    }
  }

  async #handle(conversation: Conversation, message: WaitingMessage): Promise<Changes> {
    if (message.isTask) return this.#sendTask(conversation, message)
    if (message.answer) return this.#answer(conversation, message.answer)
    const command = parseCommand(message.text)
    if (command) return this.#command(conversation, message, command)
    const request = await this.#askedRequest(conversation)
    if (!request) return this.#send(conversation, message, 'steer')
    const parsed = parseAnswer(message.text, request)
    const isRefused = typeof parsed === 'object' && parsed.kind === 'approve' && !this.#options.isTrusted(conversation.channel)
    const decision = isRefused ? approveElsewhere(conversation.channel) : parsed
    if (typeof decision === 'string') return this.#reply(conversation, message, decision)
    const answer = { approvalId: request.id, decision }
    // Without this, a crash would leave open whether it was the answer or a message.
    await this.#options.conversations.update(conversation, ({ waiting }) => ({
      waiting: waiting.map((each) => (each.id === message.id ? { ...each, answer } : each)),
    }))
    return this.#answer(conversation, answer)
  }

  /** The open request, if the person has seen it. */
  async #askedRequest({ sessionId, asked }: Conversation) {
    const asking = this.#options.conversations.asking.get(this.#key)
    if (sessionId === undefined || (asked === undefined && asking === undefined)) return undefined
    return (await this.#requests(sessionId)).find(({ id }) => id === asked || id === asking)
  }

  async #answer({ sessionId = '', channel, userId }: Conversation, answer: NonNullable<WaitingMessage['answer']>): Promise<Changes> {
    await this.#options.sessions.approve(sessionId, { ...answer, by: `${channel}:${userId}` })
    return {}
  }

  async #send(conversation: Conversation, { id, text, isTask }: WaitingMessage, mode: 'queue' | 'steer'): Promise<Changes> {
    const { sessions, scope } = this.#options
    const { sessionId, channel, userId, userName, number } = conversation
    if (sessionId !== undefined) {
      try {
        // A task is for the orchestrator, also while another agent has the conversation.
        const to = isTask && conversation.speaker !== undefined ? { to: sessionId } : {}
        await sessions.send(sessionId, text, { clientId: id, mode, ...to })
        return isTask ? {} : { sent: id }
      } catch (error) {
        // It was deleted: a new one begins.
        if (!isUnknownSession(error)) throw error
      }
    }
    const principal = { id: `${channel}:${userId}`, kind: 'person', ...(userName && { name: userName }) } as const
    const more = { principal, clientId: id, key: `${scope}${this.#key}#${number}`, labels: [`channel:${channel}`] }
    return { ...fresh, ...(!isTask && { sent: id }), sessionId: await sessions.start(text, { agent: orchestratorName, ...more }) }
  }

  /** It waits for the turn. The person is told if that needs them: nobody else ends the wait. */
  async #sendTask(conversation: Conversation, message: WaitingMessage): Promise<Changes> {
    const { speaker, tasks = [] } = conversation
    const needsAnswer = speaker === undefined && (await this.#hasRequest(conversation))
    const waitsFor = needsAnswer
      ? 'you have answered the request'
      : speaker && `${agentAt(speaker)} has ended its conversation with you; /back ends it now`
    const shown = tasks.find(({ id }) => id === message.id)?.text ?? `Scheduled task: ${shortLine(message.text)}`
    if (waitsFor !== undefined) await this.#reply(conversation, message, `${shown}\nIt begins when ${waitsFor}.`)
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

  async #command(conversation: Conversation, message: WaitingMessage, { name, rest }: Command): Promise<Changes> {
    const { sessionId = '', number } = conversation
    const speaker = conversation.speaker && agentAt(conversation.speaker)
    const say = (text: string): Promise<Changes> => this.#reply(conversation, message, text)
    switch (name) {
      case 'queue':
        if (rest.trim() === '') return say('Write the message after the command: /queue MESSAGE')
        return this.#send(conversation, { ...message, text: rest }, 'queue')
      case 'who':
        return say(`You are talking to ${speaker === undefined ? orchestratorName : `${speaker}. /back returns to ${orchestratorName}`}.`)
      case 'back':
        if (speaker === undefined) return say(`You are talking to ${orchestratorName} already.`)
        await this.#options.sessions.send(sessionId, '/back', { clientId: message.id, endsHandoff: true })
        return {}
      case 'stop':
        return (await this.#stop(conversation)) ? {} : say('No task is running.')
      case 'new':
        await this.#stop(conversation)
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

  async #reply(conversation: Conversation, { id }: WaitingMessage, text: string): Promise<Changes> {
    await this.#options.reply(conversation, { id, kind: 'notice', text })
    return {}
  }

  async #stop({ sessionId = '', channel, userId }: Conversation): Promise<boolean> {
    const { sessions } = this.#options
    const entry = sessionId === '' ? undefined : await sessions.get(sessionId)
    return entry !== undefined && stopTask(sessions, entry, `${channel}:${userId}`)
  }
}

/** Code that nobody has read could answer for the person. */
const approveElsewhere = (channel: string): string =>
  `The channel ${channel} is not trusted, so it cannot approve. Approve at the computer of the assistant: troupe approvals list. Or answer no.`

/** For the next session of a conversation. */
const fresh = {
  delivered: 0,
  turnFrom: undefined,
  sent: undefined,
  asked: undefined,
  shown: undefined,
  speaker: undefined,
  said: undefined,
  heard: undefined,
}
