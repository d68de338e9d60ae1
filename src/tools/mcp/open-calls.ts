// The open calls of a connection, and what the server asks and logs meanwhile.
//
// A request of a server of the revision 2025-11-25 does not say which call it belongs to. With several open calls, nobody is asked.
import type { Client, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { type CallQuestions, noQuestions } from './call-questions.ts'
import { type McpHost, rootsOf } from './mcp-host.ts'

interface OpenCall {
  readonly questions: CallQuestions
  readonly signal: AbortSignal
  readonly onProgress: (text: string) => void
}

interface AnsweringOptions {
  readonly host: McpHost
  /** Whether somebody can be asked. */
  readonly canAsk: boolean
  /** Shows a line, and returns what was shown. */
  log(text: string): string | undefined
}

export class OpenCalls {
  readonly #calls = new Set<OpenCall>()
  /** Open questions about an address, by the ids of the server. */
  readonly #elicitations = new Map<string, AbortController>()

  async during<Result>(call: OpenCall, run: () => Promise<Result>): Promise<Result> {
    this.#calls.add(call)
    try {
      return await run()
    } finally {
      this.#calls.delete(call)
    }
  }

  /** Handles the requests and notifications of the server. */
  answer(client: Client, { host, canAsk, log }: AnsweringOptions): void {
    client.setRequestHandler('roots/list', () => rootsOf(host))
    client.setNotificationHandler('notifications/message', ({ params: { level, data } }) => {
      const shown = log(`${level}: ${typeof data === 'string' ? data : JSON.stringify(data)}`)
      if (shown !== undefined) this.#onlyCall?.onProgress(shown)
    })
    if (!canAsk) return
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => this.#elicit(params, mcpReq.signal))
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      this.#elicitations.get(params.elicitationId)?.abort(),
    )
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      const { questions, signal } = this.#asking
      return questions.createMessage(params, signal)
    })
  }

  /** The server may find out before the person says so that the person is done with an address. */
  async #elicit(params: ElicitRequest['params'], cancelled: AbortSignal): Promise<ElicitResult> {
    const { questions, signal } = this.#asking
    const completed = new AbortController()
    const id = params.mode === 'url' ? params.elicitationId : undefined
    if (id !== undefined) this.#elicitations.set(id, completed)
    const result = await questions.elicit(params, AbortSignal.any([signal, cancelled, completed.signal]))
    if (id !== undefined) this.#elicitations.delete(id)
    return completed.signal.aborted ? { action: 'accept' } : result
  }

  get #asking(): Pick<OpenCall, 'questions' | 'signal'> {
    return this.#onlyCall ?? { questions: noQuestions, signal: new AbortController().signal }
  }

  get #onlyCall(): OpenCall | undefined {
    const [only, ...others] = this.#calls
    return others.length === 0 ? only : undefined
  }
}
