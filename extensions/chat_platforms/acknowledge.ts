import type { WebhookOptions } from 'chat'

/** What the handlers of one event do. Chat SDK returns before they have ended. */
export class HandlerTasks {
  readonly #tasks: Promise<unknown>[] = []

  /**
   * Failures reach `ended`. Chat SDK would remember a message before its handler has stored it, so that a crash between the two loses it:
   * the kernel takes a message once by its id.
   */
  readonly options: WebhookOptions = {
    deduplicate: false,
    propagateHandlerErrors: true,
    waitUntil: (task) => {
      // A rejection is for `ended`, which may look later.
      task.catch(() => undefined)
      this.#tasks.push(task)
    },
  }

  /** Rejects with the first failure, when all have ended. */
  async ended(): Promise<void> {
    for (let seen = 0; seen < this.#tasks.length; ) {
      const found = this.#tasks.slice(seen)
      seen += found.length
      const failed = (await Promise.allSettled(found)).find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
    }
  }
}

/** Answers a webhook when everything in it is stored. A failure is an error of the server: the platform delivers it again. */
export async function answerWhenStored(handle: (options: WebhookOptions) => Promise<Response>): Promise<Response> {
  const tasks = new HandlerTasks()
  const response = await handle(tasks.options)
  try {
    await tasks.ended()
    return response
  } catch {
    return new Response('Not stored. Deliver it again.', { status: 503 })
  }
}
